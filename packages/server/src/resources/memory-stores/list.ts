/**
 * Lists one page of a store's memories, flat or one level deep, ordered by the bytes of their paths. [memories/list]
 */
import type { Memory, MemoryListQuery, MemoryPrefix } from '@steward/protocol/memory-stores.ts'
import { z } from 'zod'
import { decodeCursor, encodeCursor } from '../../ground/core/text/cursor.ts'
import { forwardPage } from '../../ground/core/text/page.ts'
import type { Reads } from '../../ground/database/database.ts'
import { fitPage } from '../../ground/database/listing.ts'
import type { MemoryFacts, PathRange } from './memories.ts'
import { memoryRows, showMemory } from './memories.ts'

type MemoryListContext = { db: Reads; tenant: string; store: string }
type MemoryListPart = { data: (Memory | MemoryPrefix)[]; last: string | undefined; more: boolean }

const Last = z.tuple([z.string()])

export async function listMemories(context: MemoryListContext, query: MemoryListQuery) {
  const { depth, path_prefix: prefix } = query
  const scope = `memories/${context.store}/${depth}${prefix}`
  const cursor = query.page ?? query.cursor
  const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, Last)[0]
  const { data, last, more } = await (depth === 1 ? oneLevel : flat)(
    context,
    { prefix, after },
    query,
  )
  return forwardPage(
    data,
    more && last !== undefined ? encodeCursor(scope, [last]) : null,
    data.map((entry) => (entry.type === 'memory' ? entry.id : null)),
  )
}

async function flat(
  { db, tenant, store }: MemoryListContext,
  range: PathRange,
  { view, limit }: MemoryListQuery,
): Promise<MemoryListPart> {
  const read = memoryRows(db)[view === 'full' ? 'whole' : 'facts']
  const { rows, more } = await read(tenant, store, range, limit)
  const data = rows.map((row) => showMemory(row, view))
  return { data, last: data.at(-1)?.path, more }
}

/** Deeper memories appear as one entry for their folder. */
async function oneLevel(
  { db, tenant, store }: MemoryListContext,
  range: PathRange,
  { view, limit }: MemoryListQuery,
): Promise<MemoryListPart> {
  const found = new Set<string>()
  for (const path of await memoryRows(db).paths(tenant, store, range)) {
    const slash = path.indexOf('/', range.prefix.length)
    found.add(slash < 0 ? path : path.slice(0, slash + 1))
  }
  const first = [...found].slice(0, limit)
  const own = first.filter((path) => !path.endsWith('/'))
  const facts = own.length === 0 ? [] : await memoryRows(db).factsAt(tenant, store, own)
  const paths = view === 'full' ? fittingPaths(first, facts) : first
  const isWhole = view === 'full' && facts.length > 0
  const rows = isWhole ? await memoryRows(db).wholeAt(tenant, store, paths) : facts
  const byPath = new Map(rows.map((row) => [row.path, showMemory(row, view)]))
  const data = paths.flatMap((path): (Memory | MemoryPrefix)[] => {
    if (path.endsWith('/')) return [{ type: 'memory_prefix', path }]
    const memory = byPath.get(path)
    // The memory was deleted between the two reads.
    return memory ? [memory] : []
  })
  return { data, last: paths.at(-1), more: found.size > paths.length }
}

/** The paths whose contents fit on one page. */
function fittingPaths(paths: string[], facts: readonly MemoryFacts[]): string[] {
  const sizes = new Map(facts.map(({ path, size }) => [path, size]))
  return paths.slice(0, fitPage(paths.map((path) => sizes.get(path) ?? 0)).fitting)
}
