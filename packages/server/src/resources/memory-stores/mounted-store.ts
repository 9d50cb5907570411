/** A memory store as a folder of files: read to mount it into a sandbox, and written with the changes made there. */
import type { MemoryChange, MountedMemory, MountedOutcome } from '@steward/protocol/inputs.ts'
import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import { MemoryCreate } from '@steward/protocol/memory-stores.ts'
import { parsedBy } from '@steward/protocol/problems.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { MemoryRow } from './memories.ts'
import { memoryRows } from './memories.ts'
import { memoryStoreStore } from './store.ts'
import type { MemoryWriteContext } from './write.ts'
import { createMemory, deleteMemory, updateMemory } from './write.ts'
import { rows } from '../../ground/database/rows.ts'

const Written = MemoryCreate.extend({ content: MemoryCreate.shape.content.unwrap() })

function mountedReads(db: Reads) {
  const memories = memoryRows(db)
  return {
    /** Hashes by path, at this revision or a later one; undefined when the store does not exist. */
    async facts(
      tenant: string,
      store: string,
    ): Promise<{ revision: number; hashes: Map<string, string> } | undefined> {
      const revision = (await memoryStoreStore(db).revisions(tenant, [store])).get(store)
      if (revision === undefined) return undefined
      const all = await memories.hashes(tenant, store)
      return { revision, hashes: new Map(all.map(({ path, sha256 }) => [path, sha256])) }
    },

    /** Contents of the given paths that exist. */
    async contents(
      tenant: string,
      store: string,
      paths: readonly string[],
    ): Promise<MountedMemory[]> {
      return (await memories.wholeAt(tenant, store, paths)).map(mounted)
    },
  }
}

function mountedWrites(db: Queries) {
  const memories = memoryRows(db)

  async function put(
    writing: MemoryWriteContext,
    { path, content }: { path: string; content: string },
    expectedSha: string | null,
  ): Promise<MountedOutcome> {
    await memoryStoreStore(db).open(writing.tenant, writing.store)
    const current = await memories.at(writing.tenant, writing.store, path)
    if (!current) {
      const made = await createMemory(writing, { path, content })
      return { type: 'ok', memory: mounted(made) }
    }
    if (expectedSha === null && current.content !== content)
      return { type: 'conflict', current: mounted(current) }
    const kept = await updateMemory(writing, current.id, {
      content,
      precondition: { type: 'content_sha256', content_sha256: expectedSha ?? current.sha256 },
    })
    return { type: 'ok', memory: mounted(kept), replaced: mounted(current) }
  }

  async function remove(
    writing: MemoryWriteContext,
    path: string,
    expectedSha: string | null,
  ): Promise<MountedOutcome> {
    await rows(db, 'memory_stores').getForUpdate(writing.tenant, writing.store)
    const current = await memories.at(writing.tenant, writing.store, path)
    if (current && expectedSha === null) return { type: 'conflict', current: mounted(current) }
    if (current) await deleteMemory(writing, current.id, expectedSha ?? undefined)
    return { type: 'ok', memory: null, ...(current && { replaced: mounted(current) }) }
  }

  /** A file that another writer deleted meanwhile is created again. */
  async function write(
    tenant: string,
    store: string,
    { actor, ...change }: MemoryChange & { actor: MemoryActor },
    at: Pick<MemoryWriteContext, 'now' | 'checkRoom'>,
  ): Promise<MountedOutcome> {
    const { path, expected_sha: expectedSha } = change
    const writing: MemoryWriteContext = { tx: db, tenant, store, actor, ...at }
    try {
      if ('deleted' in change) return await remove(writing, path, expectedSha)
      const checked = parsedBy(Written, { path, content: change.content })
      if (!checked.ok) return { type: 'refused', why: checked.problems }
      return await put(writing, checked.value, expectedSha)
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error
      const inTheWay = error.details?.['conflicting_path']
      const there = typeof inTheWay === 'string' ? inTheWay : path
      const current =
        error.kind === 'conflict' ? await memories.at(tenant, store, there) : undefined
      return current
        ? { type: 'conflict', current: mounted(current) }
        : { type: 'refused', why: error.message }
    }
  }

  return {
    write,

    /**
     * Writes the changes in order, within one unit, and returns the revisions of the store before and after. Put
     * deletions first: a folder may have become a file. Undefined when the store does not exist.
     */
    async writeAll(
      tenant: string,
      store: string,
      { actor, changes }: { actor: MemoryActor; changes: readonly MemoryChange[] },
      at: Pick<MemoryWriteContext, 'now' | 'checkRoom'>,
    ): Promise<{ outcomes: MountedOutcome[]; from: number; to: number } | undefined> {
      const row = await rows(db, 'memory_stores').findForUpdate(tenant, store)
      if (!row) return undefined
      const outcomes: MountedOutcome[] = []
      for (const change of changes)
        outcomes.push(await write(tenant, store, { ...change, actor }, at))
      const { revision: to } = await rows(db, 'memory_stores').get(tenant, store)
      return { outcomes, from: row.revision, to }
    },
  }
}

export const memoryStore = defineStore(mountedReads, mountedWrites)

const mounted = (row: MemoryRow): MountedMemory => ({
  memory_id: row.id,
  path: row.path,
  content: row.content,
  content_sha256: row.sha256,
})
