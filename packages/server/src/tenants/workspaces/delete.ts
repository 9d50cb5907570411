/** Deletes a workspace: at once for everybody who reaches it, and soon, by a job, everything that it has. */
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { auditChange } from '../../ground/core/audited-call.ts'
import { conflict, invalid, notFound } from '../../ground/core/errors.ts'
import type { Databases, Queries } from '../../ground/database/database.ts'
import { workspaceKeyStore } from '../../ground/database/workspace-keys.ts'
import { revocations } from '../api-keys/authenticate.ts'
import { apiKeyStore } from '../api-keys/store.ts'
import { changedPeople } from '../people/authenticate.ts'
import { memberStore } from '../people/members/store.ts'
import { leaveInitial } from './initial.ts'
import { removalStore } from './removals.ts'
import { workspaceStore } from './store.ts'

/** The channel on which a process is told that it has a workspace to remove. */
export const removals = 'removals'

export type EndedKey = { id: string; hash: string }

/**
 * Within a unit of the control database. From its commit on nobody reaches the workspace, and no key, member or invitation is added to it.
 * `confirm` is the name of the workspace, or its id. Throws for a workspace that was not archived before, so that a slip can be mended.
 */
export async function deleteWorkspace(
  tx: Queries,
  { id, confirm, now }: { id: string; confirm: string; now: number },
): Promise<EndedKey[]> {
  const row = await workspaceStore(tx).take(id)
  if (!row) throw notFound('workspace', id)
  if (row.archived_at === null)
    throw conflict(
      'only an archived workspace can be deleted: archive it first, and delete it when nobody misses it',
    )
  if (confirm !== row.name && confirm !== row.id)
    throw invalid(`confirm: must be the name of the workspace that is to be deleted`)
  const { name, archived_at, created_at } = row
  auditChange({ type: 'workspace', id, before: { name, archived_at, created_at } })
  await leaveInitial(tx, id)
  await workspaceStore(tx).markDeleted(id, now)
  await workspaceKeyStore(tx).forget(id)
  await removalStore(tx).ask(id, now)
  await memberStore(tx).removeAll(id)
  return apiKeyStore(tx).removeAll(id)
}

/** After the commit. */
export function announceDeletion(bus: Bus, keys: readonly EndedKey[]): void {
  for (const { id, hash } of keys) bus.publish(revocations, { hash, id })
  bus.publish(changedPeople, {})
  bus.publish(removals, {})
}

/** What an owner does by the interface. */
export async function deleteByOwner(
  { databases, bus, clock }: { databases: Databases; bus: Bus; clock: Clock },
  { id, confirm }: { id: string; confirm: string },
): Promise<void> {
  const now = clock.now()
  const keys = await databases.control.write((tx) => deleteWorkspace(tx, { id, confirm, now }))
  announceDeletion(bus, keys)
}
