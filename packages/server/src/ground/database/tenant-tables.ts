export type TenantDatabaseTables = {
  /** A table of control, with one row for each tenant that has its own database. */
  tenant_databases: {
    tenant_id: string
    created_at: string
    /** When a process last announced that it writes to the database. */
    woken_ms: number
    /** When a job has to look at the database. Null: not before the next write. */
    due_ms: number | null
  }
}
