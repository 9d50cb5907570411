/** The audit: its lines, and the heads of its chains. */
export type AuditTables = {
  audit_lines: {
    /** Empty for the deployment's own. */
    tenant_id: string
    id: string
    action: string
    resource_type: string
    resource_id: string | null
    parent_id: string | null
    actor_type: string
    actor_id: string | null
    /** As it was at the time of the line. */
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
  /** One of each chain. The signature covers all other columns. */
  audit_heads: {
    tenant_id: string
    trail: string
    seq: number
    hash: string
    /** The oldest line that is kept, and the hash of the line before it. */
    first_seq: number
    first_previous_hash: string
    /** When the chain began: what is older was never in it. */
    begun_at: string
    updated_at: string
    signature: string
  }
}

export type ChainColumns = {
  /** Null until the line is chained; -1 for what is older than the chain. */
  seq: number | null
  hash: string | null
}
