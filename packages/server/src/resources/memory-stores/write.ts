/** Changes memories, each together with its version, under the lock of the store. [memory-versions/audit] */
import { createHash } from 'node:crypto'
import type {
  MemoryActor,
  MemoryCreate,
  MemoryOperation,
  MemoryUpdate,
} from '@steward/protocol/memory-stores.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { conflict, invalid, PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { CheckRoom } from '../../tenants/limits/quotas.ts'
import type { MemoryRow } from './memories.ts'
import { memoryRows } from './memories.ts'
import { memoryStoreStore } from './store.ts'
import type { MemoryVersionRow } from './versions.ts'
import { versionStore } from './versions.ts'
import { rows } from '../../ground/database/rows.ts'
import { checkNotHeld } from '../../ground/database/holds.ts'

const mostMemories = 2_000

/** The store that a transaction writes to, and in whose name. */
export type MemoryWriteContext = {
  tx: Queries
  tenant: string
  store: string
  actor: MemoryActor
  now: number
  /** Rejects when the workspace stores as much as it may. */
  checkRoom: CheckRoom
}

const digest = (content: string) => ({
  content,
  sha256: createHash('sha256').update(content, 'utf8').digest('hex'),
  size: Buffer.byteLength(content),
})

/** Never overwrites a memory. */
export async function createMemory(
  writing: MemoryWriteContext,
  input: MemoryCreate,
): Promise<MemoryRow> {
  const { tx, tenant, store, now } = writing
  const { memories } = await memoryStoreStore(tx).open(tenant, store)
  await checkPath(writing, input.path)
  if (memories >= mostMemories)
    throw invalid(`memory store ${store} holds ${mostMemories} memories, the most there may be`)
  const at = iso(now)
  const row: MemoryRow = {
    tenant_id: tenant,
    id: newId('memory'),
    store_id: store,
    version_id: newId('memory_version'),
    path: input.path,
    ...digest(input.content ?? ''),
    created_at: at,
    updated_at: at,
  }
  await writing.checkRoom(tx, row.size)
  await memoryRows(tx).insert(row)
  await memoryStoreStore(tx).moved(tenant, store, 1)
  await keepVersion(writing, row, 'created')
  tellMemory(row.id, store, { after: row })
  return row
}

/** A memory that has the wanted contents already is not changed, whatever the precondition says. */
export async function updateMemory(
  writing: MemoryWriteContext,
  id: string,
  { path, content, precondition }: MemoryUpdate,
): Promise<MemoryRow> {
  const { tx, tenant, store, now } = writing
  await memoryStoreStore(tx).open(tenant, store)
  const kept = await memoryRows(tx).row(tenant, store, id)
  const next: MemoryRow = {
    ...kept,
    path: path ?? kept.path,
    ...digest(content === undefined ? kept.content : (content ?? '')),
  }
  if (next.path === kept.path && next.sha256 === kept.sha256) return kept
  checkPrecondition(kept, precondition?.content_sha256)
  if (next.path !== kept.path) await checkPath(writing, next.path, id)
  const row = { ...next, version_id: newId('memory_version'), updated_at: iso(now) }
  await writing.checkRoom(tx, row.size - kept.size)
  await memoryRows(tx).replace(row)
  await memoryStoreStore(tx).moved(tenant, store, 0)
  await keepVersion(writing, row, 'modified')
  tellMemory(id, store, { before: kept, after: row })
  return row
}

/** Allowed in an archived store too. */
export async function deleteMemory(
  writing: MemoryWriteContext,
  id: string,
  expectedSha: string | undefined,
): Promise<void> {
  const { tx, tenant, store } = writing
  await rows(tx, 'memory_stores').getForUpdate(tenant, store)
  const kept = await memoryRows(tx).row(tenant, store, id)
  checkPrecondition(kept, expectedSha)
  await memoryRows(tx).remove(tenant, id)
  await memoryStoreStore(tx).moved(tenant, store, -1)
  await keepVersion(writing, { ...kept, version_id: newId('memory_version') }, 'deleted')
  tellMemory(id, store, { before: kept })
}

/** Removes the contents of a version. Its time and author stay. */
export async function redactVersion(
  writing: MemoryWriteContext,
  id: string,
): Promise<MemoryVersionRow> {
  const { tx, tenant, store, actor, now } = writing
  await rows(tx, 'memory_stores').getForUpdate(tenant, store)
  const versions = versionStore(tx)
  const row = await versions.row(tenant, store, id)
  if (row.redacted_at !== null) return row
  await checkNotHeld(tx, tenant, `memory version ${id}`, row.session_id)
  const live = row.path === null ? undefined : await memoryRows(tx).at(tenant, store, row.path)
  if (live?.version_id === id) {
    throw conflict(
      `version ${id} is what memory ${row.memory_id} holds now; change or delete the memory first`,
    )
  }
  await versions.redact(tenant, id, actor, iso(now))
  return versions.row(tenant, store, id)
}

/** Reports a change of a memory to the audit, without contents, which are in the versions. */
function tellMemory(id: string, store: string, change: { before?: MemoryRow; after?: MemoryRow }) {
  const shown = (row: MemoryRow | undefined) =>
    row && { path: row.path, sha256: row.sha256, size: row.size }
  const [before, after] = [shown(change.before), shown(change.after)]
  const fields = { ...(before && { before }), ...(after && { after }) }
  auditChange({ type: 'memory', id, parent: store, ...fields })
}

async function keepVersion(
  { tx, actor, now }: MemoryWriteContext,
  row: MemoryRow,
  operation: MemoryOperation,
): Promise<void> {
  const isDeletion = operation === 'deleted'
  await versionStore(tx).insert({
    tenant_id: row.tenant_id,
    id: row.version_id,
    store_id: row.store_id,
    memory_id: row.id,
    operation,
    path: row.path,
    content: isDeletion ? null : row.content,
    sha256: isDeletion ? null : row.sha256,
    size: isDeletion ? null : row.size,
    api_key_id: callerOf(actor),
    session_id: actor.type === 'session_actor' ? actor.session_id : null,
    redacted_by: null,
    redacted_at: null,
    expires_at: null,
    created_at: iso(now),
  })
}

/** Only one memory has a path, and no memory lies below another. */
async function checkPath({ tx, tenant, store }: MemoryWriteContext, path: string, own?: string) {
  const other = await memoryRows(tx).inTheWay(tenant, store, path, own)
  if (!other) return
  const why = other.path === path ? 'holds a memory already' : `lies in the way of ${other.path}`
  throw new PlatformError('conflict', `path: ${path} ${why}`, {
    error_type: 'memory_path_conflict_error',
    conflicting_memory_id: other.id,
    conflicting_path: other.path,
  })
}

function checkPrecondition(kept: MemoryRow, expectedSha: string | undefined): void {
  if (expectedSha === undefined || expectedSha === kept.sha256) return
  throw new PlatformError(
    'conflict',
    `memory ${kept.id} holds something else than the precondition says: read it again`,
    { error_type: 'memory_precondition_failed_error' },
  )
}

/** The id of a key or of a person: one column holds both, told apart by their prefixes. */
function callerOf(actor: MemoryActor): string | null {
  if (actor.type === 'user_actor') return actor.user_id
  return actor.type === 'api_actor' ? actor.api_key_id : null
}
