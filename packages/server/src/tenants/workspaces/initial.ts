/** The workspace that the configured `API_KEY` and the first owner belong to. */
import type { Queries } from '../../ground/database/database.ts'
import { workspaceStore } from './store.ts'

/** Of the settings' table. Absent: the oldest workspace. Empty: it was deleted, and the next is to be made. */
const name = 'initial_workspace'

async function setting(tx: Queries): Promise<string | undefined> {
  const row = await tx
    .selectFrom('settings')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.value
}

const set = (tx: Queries, value: string) =>
  tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()

/** Undefined where it is to be made. No other workspace takes the place of one that was deleted: its keys are other people's. */
export async function initialWorkspace(tx: Queries): Promise<string | undefined> {
  const value = await setting(tx)
  return value === undefined ? (await workspaceStore(tx).first())?.id : value || undefined
}

/** With the unit that makes it. */
export async function beInitial(tx: Queries, id: string): Promise<void> {
  if ((await setting(tx)) !== undefined) await set(tx, id)
}

/** With the unit that deletes the workspace. */
export async function leaveInitial(tx: Queries, id: string): Promise<void> {
  if ((await initialWorkspace(tx)) === id) await set(tx, '')
}
