/** Deletes a workspace: callers lose it at once, and a job removes its contents. */
import { auditChange } from '../../ground/core/security/audited-call.ts'
import {
  conflict,
  invalid,
  NoWorkspaceError,
  notFound,
  WorkspaceDatabaseError,
} from '../../ground/core/errors.ts'
import type { OpenDatabases, Queries } from '../../ground/database/database.ts'
import { checkNoMark, checkNothingHeld } from '../../ground/database/holds.ts'
import { workspaceKeyStore } from '../../ground/database/workspace-keys.ts'
import type { Ground } from '../../ground/ground.ts'
import { notifyOfKey } from '../api-keys/authenticate.ts'
import { apiKeyStore } from '../api-keys/store.ts'
import { notifyOfPeople } from '../people/authenticate.ts'
import { memberStore } from '../people/members/store.ts'
import { unmarkInitial } from './initial-workspace.ts'
import { removalStore } from './removals.ts'
import { workspaceStore } from './store.ts'

/** Topic that notifies processes of a workspace to remove. */
export const workspaceRemovalsTopic = 'removals'

/**
 * Runs within a unit of the control database. After the commit nobody reaches the workspace or adds to it. `confirm`:
 * the name or the id of the workspace. Throws unless the workspace is archived, so that a slip can be mended.
 */
export async function deleteWorkspace(
  tx: Queries,
  { id, confirm, now }: { id: string; confirm: string; now: number },
): Promise<void> {
  const row = await workspaceStore(tx).findForUpdate(id)
  if (!row) throw notFound('workspace', id)
  if (row.archived_at === null)
    throw conflict(
      'only an archived workspace can be deleted: archive it first, and delete it when nobody misses it',
    )
  if (confirm !== row.name && confirm !== row.id)
    throw invalid(`confirm: must be the name of the workspace that is to be deleted`)
  await checkNoMark(tx, `the workspace ${id}`, { tenant: id })
  const { name, archived_at, created_at } = row
  auditChange({ type: 'workspace', id, before: { name, archived_at, created_at } })
  await unmarkInitial(tx, id)
  await workspaceStore(tx).markDeleted(id, now)
  await workspaceKeyStore(tx).forget(id)
  await removalStore(tx).ask(id, now)
  await memberStore(tx).removeAll(id)
  for (const key of await apiKeyStore(tx).removeAll(id)) notifyOfKey(tx, key)
  notifyOfPeople(tx)
  tx.afterCommit({ topic: workspaceRemovalsTopic, message: {} })
}

/** Throws for a workspace with a hold. Call it before the unit that deletes the workspace. */
export async function checkWorkspaceUnheld(databases: OpenDatabases, id: string): Promise<void> {
  const found = await databases.open(id).catch(unopened)
  if (found) await checkNothingHeld(found.read, id)
}

/** A database that was never made, or cannot be read, has no hold that could be read; control has its mark. */
function unopened(error: unknown): undefined {
  if (!(error instanceof WorkspaceDatabaseError || error instanceof NoWorkspaceError)) throw error
}

/** Deletes a workspace for an owner who calls the API. */
export async function deleteByOwner(
  { databases, clock }: Ground,
  { id, confirm }: { id: string; confirm: string },
): Promise<void> {
  await checkWorkspaceUnheld(databases, id)
  const now = clock.now()
  await databases.control.write((tx) => deleteWorkspace(tx, { id, confirm, now }))
}
