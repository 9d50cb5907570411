export type LimitTables = {
  /** On Postgres alone, and not in its log. Times in microseconds of the database's clock. */
  rate_limits: { key: string; full_at: number; drawn: number; seen: number }
  workspace_limits: {
    tenant_id: string
    /** A class of requests, or a quota. */
    name: string
    /** Who has set it. */
    source: 'operator' | 'workspace'
    value: number
    /** Of a rate; 0 for a quota. */
    period_ms: number
    updated_at: string
  }
  /** What a workspace uses of its quotas. Triggers keep it in the unit of each change, so that nothing is counted for a request. */
  quota_use: {
    tenant_id: string
    name: string
    /** Of what is counted anew each day or month, its name in UTC (`2030-01-31`, `2030-01`); empty for all else. */
    period: string
    used: number
  }
  /**
   * What was added to a counter of `quota_use`, and is not in it yet: on Postgres, of quotas that few workspaces set. Without a
   * quota nobody compares, and changes that come together do not wait for each other's commit.
   */
  quota_changes: {
    tenant_id: string
    name: string
    /** The transaction that added. */
    tx: number
    added: number
  }
  /** What a workspace may spend in each day or month (UTC). */
  spend_limits: {
    tenant_id: string
    id: string
    period: 'daily' | 'monthly'
    /** Who has set it. */
    source: 'operator' | 'workspace'
    /** In millionths of a US dollar. Null: as much as it likes. */
    amount: number | null
    is_enabled: number
    created_at: string
    updated_at: string
  }
}
