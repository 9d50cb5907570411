export type TenantDatabaseTables = {
  /** In control: the databases of tenants, where each has one. */
  tenant_databases: {
    tenant_id: string
    created_at: string
    /** When a process last said that it writes to the database. */
    woken_ms: number
    /** When a job has to look at the database. Null: not before somebody writes to it. */
    due_ms: number | null
  }
}
