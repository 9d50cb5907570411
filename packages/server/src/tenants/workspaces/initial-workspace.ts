/** The workspace that the configured `API_KEY` and the first owner belong to. */
import type { Queries } from '../../ground/database/database.ts'
import { workspaceStore } from './store.ts'

/** A row of the settings. Absent: the oldest workspace. Empty: the initial workspace was deleted; create another. */
const name = 'initial_workspace'

async function readSetting(tx: Queries): Promise<string | undefined> {
  const row = await tx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.value
}

const writeSetting = (tx: Queries, value: string) =>
  tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()

/** Undefined: create it. No existing workspace replaces a deleted one, because its keys belong to other people. */
export async function initialWorkspace(tx: Queries): Promise<string | undefined> {
  const value = await readSetting(tx)
  return value === undefined ? (await workspaceStore(tx).first())?.id : value || undefined
}

/** Call it in the unit that creates the workspace. */
export async function markInitial(tx: Queries, id: string): Promise<void> {
  if ((await readSetting(tx)) !== undefined) await writeSetting(tx, id)
}

/** Call it in the unit that deletes the workspace. */
export async function unmarkInitial(tx: Queries, id: string): Promise<void> {
  if ((await initialWorkspace(tx)) === id) await writeSetting(tx, '')
}
