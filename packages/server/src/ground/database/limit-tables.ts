export type LimitTables = {
  /** Postgres only, as an unlogged table. Times are microseconds of the database's clock. */
  rate_limits: { key: string; full_at: number; drawn: number; seen: number }
  workspace_limits: {
    tenant_id: string
    /** A class of requests, or a quota. */
    name: string
    /** The author of the limit. */
    source: 'operator' | 'workspace'
    value: number
    /** The period of a rate. 0 for a quota. */
    period_ms: number
    updated_at: string
  }
  /** Usage of quotas by workspace. Triggers update it in the unit of each change, so that no request counts rows. */
  quota_use: {
    tenant_id: string
    name: string
    /** For a quota of a day or month, that day or month in UTC (`2030-01-31`, `2030-01`). Empty for other quotas. */
    period: string
    used: number
  }
  /**
   * Additions to a counter of `quota_use` that are not in it yet. Postgres only, for quotas that few workspaces set: in
   * a workspace without the quota, concurrent changes do not wait for each other's commit.
   */
  quota_changes: {
    tenant_id: string
    name: string
    /** The transaction that added. */
    tx: number
    added: number
  }
  /** The amount that a workspace may spend in each day or month (UTC). */
  spend_limits: {
    tenant_id: string
    id: string
    period: 'daily' | 'monthly'
    /** The author of the limit. */
    source: 'operator' | 'workspace'
    /** Amount in millionths of a US dollar. Null: no limit. */
    amount: number | null
    is_enabled: number
    created_at: string
    updated_at: string
  }
}
