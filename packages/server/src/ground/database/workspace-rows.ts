/** Removes the rows of a deleted workspace from every table. */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { dialectOf } from './dialect.ts'
import { tablesIn } from './table-places.ts'
import type { Tables } from './tables.ts'

type WorkspaceTableName = keyof Tables

/** Tables whose rows are removed with their session. */
const ofSessions: readonly WorkspaceTableName[] = [
  'calls',
  'events',
  'inbox',
  'long_text_pieces',
  'long_texts',
  'session_heads',
  'sessions',
]

/** Tables of the control database whose rows of a workspace are removed elsewhere, with the reason. */
export const removedElsewhere: Partial<Record<WorkspaceTableName, string>> = {
  workspace_removals: 'its row stays for a day, so that the job also removes what is written late',
  tenant_databases: 'its row goes with the database',
}

/** The tables to empty, without those of sessions. Triggers write `quota_use` when rows of other tables are removed. */
export const workspaceTables = (place: 'control' | 'tenant'): readonly WorkspaceTableName[] =>
  place === 'control' ? inControl : tablesIn('tenant').filter((name) => !ofSessions.includes(name))

const inControl: readonly WorkspaceTableName[] = [
  'api_keys',
  'audit_heads',
  'audit_lines',
  'install_states',
  'installation_places',
  'invitations',
  'members',
  'saved_views',
  'spend_limits',
  'workspace_keys',
  'workspace_limits',
]

/** Rows of one transaction: a record may have a megabyte. */
const rowsAtOnce = 50

/** Removes a few rows in a transaction, from the first table that has any. Returns true when none is left. */
export async function removeRowsAt(
  database: Database,
  place: 'control' | 'tenant',
  tenant: string,
): Promise<boolean> {
  for (const table of workspaceTables(place))
    if ((await removeSome(database, table, tenant)) > 0) return false
  return true
}

async function removeSome(
  database: Database,
  table: WorkspaceTableName,
  tenant: string,
): Promise<number> {
  return database.writeStatement(async (db) => {
    const name = sql.table(table)
    const row = sql.raw(dialectOf(db) === 'sqlite' ? 'rowid' : 'ctid')
    const some = sql`select ${row} from ${name} where tenant_id = ${tenant} limit ${rowsAtOnce}`
    const removal = sql`delete from ${name} where ${row} in (${some})`
    const { numAffectedRows } = await removal.execute(db)
    return Number(numAffectedRows ?? 0)
  })
}
