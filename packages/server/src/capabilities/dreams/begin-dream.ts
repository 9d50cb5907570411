/**
 * Prepares a dream: creates the store, copies memories, writes transcripts, creates the session. Each step is a commit
 * that changes the dream's row, so another process continues where one died, and no dream has two sessions.
 */
import { iso } from '@steward/base/time.ts'
import type { DreamError } from '@steward/protocol/dreams.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries, Reads, TenantRef } from '../../ground/database/database.ts'
import { buildAgentConfig } from '../../resources/agents/config.ts'
import { agentStore } from '../../resources/agents/store.ts'
import { environmentStore } from '../../resources/environments/store.ts'
import { removeFiles } from '../../resources/files/remove.ts'
import type { FileRow } from '../../resources/files/store.ts'
import { fileStore } from '../../resources/files/store.ts'
import { memoryRows } from '../../resources/memory-stores/memories.ts'
import { memoryStoreStore } from '../../resources/memory-stores/store.ts'
import { createMemory } from '../../resources/memory-stores/write.ts'
import { eventOf } from '../../sessions/log/log.ts'
import { threadStore } from '../../sessions/log/threads/store.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { openSession } from '../../sessions/open.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { readAllEvents } from '../../sessions/log/read-all.ts'
import { dreamAgent, dreamEnvironment, dreamMessage, transcriptPath } from './agent.ts'
import type { DreamRow } from './store.ts'
import { dreamStore } from './store.ts'
import type { SessionRef } from '../../ground/core/refs.ts'
import { rows } from '../../ground/database/rows.ts'

/** Memories that one commit copies. */
const memoriesAtOnce = 20

/** Ends the dream as failed. */
export class DreamFailedError extends Error {
  readonly type: DreamError['type']

  constructor(type: DreamError['type'], message: string) {
    super(message)
    this.type = type
  }
}

/** Another process advanced the dream, or a caller canceled it. */
export class DreamOvertakenError extends Error {}

/** Locks the row. Throws `DreamOvertakenError` when it differs from `seen`. */
export async function getDreamForUpdate(tx: Queries, seen: DreamRow): Promise<DreamRow> {
  const row = await rows(tx, 'dreams').findForUpdate(seen.tenant_id, seen.id)
  const isSame =
    row?.status === seen.status &&
    row.copied_path === seen.copied_path &&
    row.session_id === seen.session_id
  if (!row || !isSame) throw new DreamOvertakenError(seen.id)
  return row
}

/** Turns a `PlatformError` of the step into the failure of the dream. */
async function failDreamOn<T>(type: DreamError['type'], step: Promise<T>): Promise<T> {
  try {
    return await step
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    const isQuota = /^(storage_)?quota_exceeded$/.test(String(error.details?.['error_code']))
    throw new DreamFailedError(isQuota ? 'quota_exceeded' : type, error.message)
  }
}

/** Moves the dream from `pending` to `running` and reserves the store that it writes to. */
export async function beginDream(
  { clock, limits }: OpenSessionDeps,
  { db, tenant }: TenantRef,
  seen: DreamRow,
): Promise<DreamRow> {
  const checkRoom = await limits.quotas.room(tenant, 'memory_stores')
  const step = db.write(async (tx) => {
    const row = await getDreamForUpdate(tx, seen)
    const now = clock.now()
    const stores = memoryStoreStore(tx)
    const input = await stores.getOpenForShare(tenant, row.memory_store_id, 'inputs')
    let output = input.id
    if (row.output_behavior === 'create_new') {
      await checkRoom(tx, 1)
      output = newId('memory_store')
      const at = iso(now)
      await rows(tx, 'memory_stores').insert({
        ...input,
        id: output,
        metadata: { dream_id: row.id },
        vector_index: output,
        memories: 0,
        revision: 0,
        created_at: at,
        updated_at: at,
      })
      await outbox(tx).put(tenant, ['memory_store.created'], { id: output }, now)
    }
    const columns = { status: 'running', output_store_id: output, started_at: iso(now) } as const
    return dreamStore(tx).update(row, columns, now)
  })
  return failDreamOn('memory_store_unavailable', step)
}

/** Copies the next memories. Undefined when all are copied. */
export async function copyMemories(
  { clock, limits }: OpenSessionDeps,
  { db, tenant }: TenantRef,
  seen: DreamRow,
): Promise<DreamRow | undefined> {
  const { output_store_id: store } = seen
  if (seen.output_behavior !== 'create_new' || store === null) return undefined
  const checkRoom = await limits.quotas.room(tenant, 'stored_bytes')
  const step = db.write(async (tx) => {
    const row = await getDreamForUpdate(tx, seen)
    const now = clock.now()
    const range = { prefix: '/', after: row.copied_path ?? undefined }
    // Throws when the store was deleted meanwhile: a job deletes its memories in parts.
    await rows(tx, 'memory_stores').get(tenant, row.memory_store_id)
    const found = await memoryRows(tx).whole(tenant, row.memory_store_id, range, memoriesAtOnce)
    const last = found.rows.at(-1)
    if (!last) return undefined
    const writing = { tx, tenant, store, actor: row.actor, now, checkRoom }
    for (const { path, content } of found.rows)
      if (!(await memoryRows(tx).inTheWay(tenant, store, path)))
        await createMemory(writing, { path, content })
    return dreamStore(tx).update(row, { copied_path: last.path }, now)
  })
  return failDreamOn('memory_store_unavailable', step)
}

/** Events of the session, then events of each child thread, which name their thread. */
async function* linesOf(read: Reads, ref: SessionRef) {
  const threads = await threadStore(read).all(ref.tenant, ref.session)
  const children = threads.filter(({ kind }) => kind !== 'primary').map(({ id }) => id)
  for (const thread of [undefined, ...children])
    for await (const row of readAllEvents(read, ref, thread)) {
      const event = { ...eventOf(row), ...(thread && { session_thread_id: thread }) }
      yield Buffer.from(`${JSON.stringify(event)}\n`)
    }
}

type Transcript = { session: string; key: string; row: FileRow }

async function writeTranscript(
  { keeping, clock }: OpenSessionDeps,
  { db, tenant }: TenantRef,
  session: string,
): Promise<Transcript> {
  await failDreamOn('session_unavailable', sessionStore(db.read).row(tenant, session))
  const id = newId('file')
  const key = `files/${tenant}/${id}`
  const { size, sha256 } = await keeping.put(tenant, key, linesOf(db.read, { tenant, session }))
  const row: FileRow = {
    tenant_id: tenant,
    id,
    filename: `${session}.jsonl`,
    mime_type: 'application/x-ndjson',
    size_bytes: size,
    sha256,
    session_id: null,
    origin: 'upload',
    blob_key: key,
    downloadable: 0,
    expires_at: null,
    created_at: iso(clock.now()),
  }
  return { session, key, row }
}

/** Creates the session with copies of the transcripts. Their source files exist only within the unit. */
export async function openDream(
  deps: OpenSessionDeps,
  ref: TenantRef,
  seen: DreamRow,
): Promise<void> {
  const { tenant } = ref
  const { keeping, limits } = deps
  const written: Transcript[] = []
  try {
    for (const session of seen.session_ids) written.push(await writeTranscript(deps, ref, session))
    const checkRoom = await limits.quotas.room(tenant, 'stored_bytes')
    const size = written.reduce((total, { row }) => total + row.size_bytes, 0)
    let made = { id: '', agent: '', environment: '' }
    let dream = seen
    const actor = { type: 'dream', id: seen.id, name: null } as const
    const opening = openSession({ ...deps, actor }, ref, requestOf(seen, written), {
      agent: { model: seen.model.id },
      async make(tx, { id, now }) {
        dream = await getDreamForUpdate(tx, seen)
        await checkRoom(tx, size)
        for (const { key, row } of written) {
          await keeping.hold(tx, tenant, key)
          await fileStore(tx).insert(row)
        }
        const { config } = buildAgentConfig(dreamAgent(dream))
        const agent = await agentStore(tx).create(tenant, config, {}, now, { actor })
        const environment = await environmentStore(tx).create(tenant, dreamEnvironment(dream), now)
        made = { id, agent: agent.id, environment: environment.id }
        return { agent: { type: 'agent', id: agent.id }, environment_id: environment.id }
      },
      async finish(tx, _made, now) {
        await environmentStore(tx).archive(tenant, made.environment, now)
        await agentStore(tx).archive(tenant, made.agent, now)
        const originals = written.map(({ row }) => row)
        await removeFiles(tx, tenant, originals, now)
        await dreamStore(tx).update(dream, { session_id: made.id }, now)
      },
    })
    await failDreamOn('session_not_created', opening)
  } catch (error) {
    for (const { key } of written) await keeping.abandon(tenant, key)
    throw error
  }
}

function requestOf(dream: DreamRow, transcripts: readonly Transcript[]) {
  const { id, output_store_id } = dream
  return {
    agent: { type: 'agent' as const, id: '' },
    title: `Dream ${id}`,
    metadata: { dream_id: id },
    initial_events: [dreamMessage(dream)],
    resources: [
      ...transcripts.map(({ session, row }) => ({
        type: 'file' as const,
        file_id: row.id,
        mount_path: transcriptPath(session),
      })),
      { type: 'memory_store' as const, memory_store_id: output_store_id ?? '' },
    ],
  }
}
