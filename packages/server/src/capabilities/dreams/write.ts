/** Creates, cancels and archives dreams. The job runs them. */
import type { DreamCreate } from '@steward/protocol/dreams.ts'
import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import { iso } from '@steward/base/time.ts'
import { conflict, invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries, Reads, TenantRef } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { DreamRow } from './store.ts'
import { dreamStore } from './store.ts'
import { notifyDreams } from './topics.ts'
import { rows } from '../../ground/database/rows.ts'

type DreamRequest = { body: DreamCreate; actor: MemoryActor }

function inputsOf({ inputs }: DreamCreate): { store: string; sessions: string[] } {
  let store = ''
  let sessions: string[] = []
  for (const input of inputs)
    if (input.type === 'memory_store') store = input.memory_store_id
    else sessions = input.session_ids.toSorted()
  return { store, sessions }
}

/** Throws not_found for a session of another tenant, and for a deleted one. */
async function checkSessions(read: Reads, tenant: string, sessions: readonly string[]) {
  for (const session of sessions) await sessionStore(read).row(tenant, session)
}

export async function createDream(
  { clock }: Ground,
  { db, tenant }: TenantRef,
  { body: asked, actor }: DreamRequest,
): Promise<DreamRow> {
  const { store, sessions } = inputsOf(asked)
  await checkSessions(db.read, tenant, sessions)
  const isUpdate = asked.output_behavior?.type === 'update_existing'
  return db.write(async (tx) => {
    // Lock the store, so that concurrent creations see each other's dream.
    const { archived_at } = await rows(tx, 'memory_stores').getForUpdate(tenant, store)
    if (archived_at !== null) throw invalid(`inputs: memory store ${store} is archived`)
    const holder = isUpdate ? await dreamStore(tx).holder(tenant, store) : undefined
    if (holder)
      throw conflict(
        `output_behavior: dream ${holder.id} writes to memory store ${store}: wait for its end, or cancel it`,
      )
    const at = iso(clock.now())
    notifyDreams(tx)
    return rows(tx, 'dreams').insert({
      tenant_id: tenant,
      id: newId('dream'),
      status: 'pending',
      memory_store_id: store,
      session_ids: sessions,
      model: {
        id: typeof asked.model === 'string' ? asked.model : asked.model.id,
        speed: 'standard',
      },
      instructions: asked.instructions ?? null,
      output_behavior: isUpdate ? 'update_existing' : 'create_new',
      output_store_id: null,
      held_store_id: isUpdate ? store : null,
      copied_path: null,
      actor,
      session_id: null,
      error: null,
      usage: null,
      stopped: 0,
      started_at: null,
      archived_at: null,
      created_at: at,
      updated_at: at,
      ended_at: null,
    })
  })
}

/** `change`: returns the columns to write; undefined when the dream needs no change. */
const changeDream = (
  { clock }: Ground,
  { db, tenant }: TenantRef,
  id: string,
  change: (row: DreamRow, at: string, tx: Queries) => Partial<DreamRow> | undefined,
): Promise<DreamRow> =>
  db.write(async (tx) => {
    const row = await rows(tx, 'dreams').getForUpdate(tenant, id)
    const now = clock.now()
    const columns = change(row, iso(now), tx)
    return columns ? dreamStore(tx).update(row, columns, now) : row
  })

/** Sets the final status. The job then stops the session and releases the store. */
export const cancelDream = (deps: Ground, ref: TenantRef, id: string) =>
  changeDream(deps, ref, id, ({ status, ended_at }, at, tx) => {
    if (status === 'canceled') return undefined
    if (ended_at !== null) throw invalid(`dream ${id} is ${status} and cannot be canceled`)
    notifyDreams(tx)
    return { status: 'canceled', ended_at: at }
  })

export const archiveDream = (deps: Ground, ref: TenantRef, id: string) =>
  changeDream(deps, ref, id, ({ status, ended_at, archived_at }, at) => {
    if (archived_at !== null) return undefined
    if (ended_at === null)
      throw invalid(`dream ${id} is ${status}: cancel it before you archive it`)
    return { archived_at: at }
  })
