/** The audit: its lines and the heads of its chains. */
export type AuditTables = {
  audit_lines: {
    /** Empty: a line of the deployment. */
    tenant_id: string
    id: string
    action: string
    resource_type: string
    resource_id: string | null
    parent_id: string | null
    actor_type: string
    actor_id: string | null
    /** The name when the line was written. */
    actor_name: string | null
    credential_type: string
    credential_id: string | null
    address: string | null
    user_agent: string | null
    request_id: string | null
    method: string | null
    route: string | null
    /** JSON of the fields that changed. */
    before_fields: string | null
    after_fields: string | null
    created_at: string
  } & ChainColumns
  /** One row for each chain. The signature covers all other columns. */
  audit_heads: {
    tenant_id: string
    trail: string
    seq: number
    hash: string
    /** The oldest stored line, and the hash of the line before it. */
    first_seq: number
    first_previous_hash: string
    /** When the chain began. Older lines were never part of it. */
    begun_at: string
    updated_at: string
    signature: string
  }
}

export type ChainColumns = {
  /** The place in the chain. Null: not chained yet. -1: older than the chain. */
  seq: number | null
  hash: string | null
}
