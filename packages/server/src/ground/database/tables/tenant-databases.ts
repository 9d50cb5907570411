import { nullable, number, table, text } from '../table.ts'

export const tenantDatabaseTables = {
  /** A table of control, with one row for each tenant that has its own database. */
  tenant_databases: table({
    rows: 'control',
    key: ['tenant_id'],
    removed: { elsewhere: 'its row goes with the database' },
    columns: {
      tenant_id: text(),
      created_at: text(),
      /** When a process last announced that it writes to the database. */
      woken_ms: number(),
      /** When a job has to look at the database. Null: not before the next write. */
      due_ms: nullable(number()),
    },
  }),
}
