/** Attaches resources of every kind to a session, each at its own paths, and detaches them. */
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { resourceStore } from '../rows/resources.ts'
import type { ResourceRequest } from './kind.ts'
import type { ResourceKinds } from './kinds.ts'
import { kindOf } from './kinds.ts'
import { checkFree } from './mount-path.ts'
import { checkNotHeld } from '../../ground/database/holds.ts'

/** Resources of one session. [resources/file/most] */
export const mostResources = 500

/** A session that accepts resources. */
export type AttachTarget = { tenant: string; session: string; now: number }

/** The caller holds the session's row. */
export async function attachResources(
  tx: Queries,
  kinds: ResourceKinds,
  { tenant, session, now }: AttachTarget,
  wanted: readonly ResourceRequest[],
): Promise<ResourceRow[]> {
  if (wanted.length === 0) return []
  const resources = resourceStore(tx)
  const there = await resources.ofSession(tenant, session)
  if (there.length + wanted.length > mostResources)
    throw invalid(`resources: a session has at most ${mostResources}`)
  const all = [...there]
  const pathsOf = (row: ResourceRow) => kinds[row.type].pathsOf(row.resolved_path)
  for (const { resource, at } of wanted) {
    const id = newId('session_resource')
    const ref = { tenant, session, id, now, others: all, at }
    const attached = await kindOf(kinds, resource).attach(tx, ref, resource)
    const row: ResourceRow = {
      tenant_id: tenant,
      session_id: session,
      id,
      refers_to: null,
      sealed_token: null,
      mounted_at: null,
      created_at: iso(now),
      updated_at: iso(now),
      ...attached,
    }
    checkFree(pathsOf(row), all.flatMap(pathsOf), `${at}mount_path`)
    await resources.insert(row)
    all.push(row)
  }
  return all.slice(there.length)
}

/** The caller holds the session's row. */
export async function detachResource(
  tx: Queries,
  kinds: ResourceKinds,
  { tenant, session, now }: AttachTarget,
  id: string,
): Promise<void> {
  const resources = resourceStore(tx)
  const row = await resources.row(tenant, session, id)
  const { detach, plural } = kindOf(kinds, row)
  await checkNotHeld(tx, tenant, `resource ${id}`, session)
  if (!detach) throw invalid(`the ${plural} of a session are fixed at its creation`)
  await resources.remove(tenant, session, id)
  await detach(tx, { tenant, now }, row)
}
