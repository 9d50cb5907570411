import { nullable, number, table, text } from '../table.ts'

export const limitTables = {
  /** Postgres only, as an unlogged table. Times are microseconds of the database's clock. */
  rate_limits: table({
    rows: 'control',
    key: ['key'],
    only: 'postgres',
    columns: {
      key: text(),
      full_at: number(),
      drawn: number(),
      seen: number(),
    },
  }),
  workspace_limits: table({
    rows: 'control',
    key: ['tenant_id', 'name', 'source'],
    columns: {
      tenant_id: text(),
      /** A class of requests, or a quota. */
      name: text(),
      /** The author of the limit. */
      source: text<'operator' | 'workspace'>(),
      value: number(),
      /** The period of a rate. 0 for a quota. */
      period_ms: number(),
      updated_at: text(),
    },
  }),
  /** Usage of quotas by workspace. Triggers update it in the unit of each change, so that no request counts rows. */
  quota_use: table({
    rows: 'tenant',
    key: ['tenant_id', 'name', 'period'],
    columns: {
      tenant_id: text(),
      name: text(),
      /** For a quota of a day or month, that day or month in UTC (`2030-01-31`, `2030-01`). Empty for other quotas. */
      period: text(),
      used: number(),
    },
  }),
  /**
   * Additions to a counter of `quota_use` that are not in it yet. Postgres only, for quotas that few workspaces set: in
   * a workspace without the quota, concurrent changes do not wait for each other's commit.
   */
  quota_changes: table({
    rows: 'tenant',
    key: ['tenant_id', 'name', 'tx'],
    columns: {
      tenant_id: text(),
      name: text(),
      /** The transaction that added. */
      tx: number(),
      added: number(),
    },
  }),
  /** The amount that a workspace may spend in each day or month (UTC). */
  spend_limits: table({
    rows: 'control',
    key: ['tenant_id', 'period', 'source'],
    columns: {
      tenant_id: text(),
      id: text(),
      period: text<'daily' | 'monthly'>(),
      /** The author of the limit. */
      source: text<'operator' | 'workspace'>(),
      /** Amount in millionths of a US dollar. Null: no limit. */
      amount: nullable(number()),
      is_enabled: number(),
      created_at: text(),
      updated_at: text(),
    },
  }),
}
