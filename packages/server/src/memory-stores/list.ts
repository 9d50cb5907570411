/** One page of what lies in a store, flat or one level deep. contract.md 1.8 */
import type { Memory, MemoryListQuery, MemoryPrefix } from '@steward/protocol/memory-stores.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../core/cursor.ts'
import type { Queries } from '../database/database.ts'
import type { MemoryFacts } from './memories.ts'
import { memoryStore, showMemory } from './memories.ts'

type Entry = { path: string; memory?: MemoryFacts }
const Place = z.tuple([z.string()])

const byBytes = (a: Entry, b: Entry): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))

/** By the bytes of their paths. A store holds 2,000 memories at most, so that its paths are read whole. */
export async function listMemories(
  db: Queries,
  { tenant, store }: { tenant: string; store: string },
  query: MemoryListQuery,
) {
  const { limit, view, depth, path_prefix } = query
  const scope = `memories/${store}/${depth}/${view}${path_prefix}`
  const cursor = query.page ?? query.cursor
  const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, Place)[0]
  const rows = await memoryStore(db).below(tenant, store, path_prefix)
  const all = (depth === 1 ? oneLevel(rows, path_prefix) : rows.map(entryOf)).toSorted(byBytes)
  const from = after === undefined ? 0 : all.findIndex((each) => byBytes({ path: after }, each) < 0)
  const page = from < 0 ? [] : all.slice(from, from + limit)
  const last = page.at(-1)
  const more = last !== undefined && from + limit < all.length
  return {
    data: await shown(db, { tenant, store }, page, view),
    has_more: more,
    next_page: more ? encodeCursor(scope, [last.path]) : null,
    prev_page: null,
    first_id: page[0]?.memory?.id ?? null,
    last_id: last?.memory?.id ?? null,
  }
}

const entryOf = (memory: MemoryFacts): Entry => ({ path: memory.path, memory })

/** What lies deeper is one entry for the folder that it lies in. */
function oneLevel(rows: readonly MemoryFacts[], prefix: string): Entry[] {
  const entries = new Map<string, Entry>()
  for (const memory of rows) {
    const slash = memory.path.indexOf('/', prefix.length)
    const path = slash < 0 ? memory.path : memory.path.slice(0, slash + 1)
    if (!entries.has(path)) entries.set(path, slash < 0 ? entryOf(memory) : { path })
  }
  return [...entries.values()]
}

async function shown(
  db: Queries,
  { tenant, store }: { tenant: string; store: string },
  page: readonly Entry[],
  view: 'basic' | 'full',
): Promise<(Memory | MemoryPrefix)[]> {
  const ids = page.flatMap(({ memory }) => memory?.id ?? [])
  const contents =
    view === 'full' && ids.length > 0 ? await memoryStore(db).contents(tenant, store, ids) : []
  const byId = new Map(contents.map(({ id, content }) => [id, content]))
  return page.map(({ path, memory }) =>
    memory
      ? showMemory(memory, byId.get(memory.id) ?? null)
      : { type: 'memory_prefix' as const, path },
  )
}
