import { nullable, number, table, text } from '../table.ts'

export const chainColumns = {
  /** The place in the chain. Null: not chained yet. -1: older than the chain. */
  seq: nullable(number()),
  hash: nullable(text()),
}

/** The audit: its lines and the heads of its chains. */
export const auditTables = {
  audit_lines: table({
    rows: 'each',
    key: ['tenant_id', 'id'],
    columns: {
      /** Empty: a line of the deployment. */
      tenant_id: text(),
      id: text(),
      action: text(),
      resource_type: text(),
      resource_id: nullable(text()),
      parent_id: nullable(text()),
      actor_type: text(),
      actor_id: nullable(text()),
      /** The name when the line was written. */
      actor_name: nullable(text()),
      credential_type: text(),
      credential_id: nullable(text()),
      address: nullable(text()),
      user_agent: nullable(text()),
      request_id: nullable(text()),
      method: nullable(text()),
      route: nullable(text()),
      /** JSON of the fields that changed. */
      before_fields: nullable(text()),
      after_fields: nullable(text()),
      created_at: text(),
      ...chainColumns,
    },
  }),
  /** One row for each chain. The signature covers all other columns. */
  audit_heads: table({
    rows: 'each',
    key: ['tenant_id', 'trail'],
    columns: {
      tenant_id: text(),
      trail: text(),
      seq: number(),
      hash: text(),
      /** The oldest stored line, and the hash of the line before it. */
      first_seq: number(),
      first_previous_hash: text(),
      /** When the chain began. Older lines were never part of it. */
      begun_at: text(),
      updated_at: text(),
      signature: text(),
    },
  }),
  /** The newest line of a chain that the stream of the audit has taken. */
  audit_streams: table({
    rows: 'each',
    key: ['tenant_id', 'trail'],
    lease: { owner: 'owner', expires: 'expires_at' },
    columns: {
      tenant_id: text(),
      trail: text(),
      seq: number(),
      /** The process that sends lines of the chain now. */
      owner: nullable(text()),
      expires_at: number(),
    },
  }),
}
