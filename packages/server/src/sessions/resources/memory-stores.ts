/** Memory stores that a session works with: fixed at its creation, each at a place of its own. [resources/memory-store/fixed] */
import type { MemoryAccess, MemoryStoreResource } from '@steward/protocol/session-resources.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { memoryStoreStore } from '../../resources/memory-stores/store.ts'
import { resolveStorePath } from './mount-path.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { ofType } from '../rows/resources.ts'

/** Memory stores of one session. [resources/memory-store/refused] */
const mostStores = 8
const root = '/mnt/memory'

export type AttachedStore = ResourceRow<'memory_store'>

/** What its columns hold besides those of every resource. `others` are the session's so far; `most` is what may be granted. */
export async function storeColumns(
  tx: Queries,
  { tenant, most }: { tenant: string; most: MemoryAccess },
  { memory_store_id, access = 'read_write', instructions, mount_path }: MemoryStoreResource,
  { others, at }: { others: readonly ResourceRow[]; at: string },
): Promise<Pick<AttachedStore, 'mount_path' | 'resolved_path' | 'refers_to' | 'fields'>> {
  const attached = ofType(others, 'memory_store')
  const place = `${at}memory_store_id`
  if (attached.length === mostStores)
    throw invalid(`${place}: a session has at most ${mostStores} memory stores`)
  if (attached.some(({ fields }) => fields.memory_store_id === memory_store_id))
    throw invalid(`${place}: memory store ${memory_store_id} is attached twice`)
  if (access !== 'read_only' && most === 'read_only')
    throw invalid(
      `${at}access: sandboxes of the local provider cannot write to memory stores; attach ${memory_store_id} as read_only`,
    )
  const { name, description } = await memoryStoreStore(tx).hold(tenant, memory_store_id, place)
  const path = mount_path
    ? resolveStorePath(mount_path, `${at}mount_path`)
    : freePath(
        name,
        others.map((other) => other.resolved_path),
      )
  return {
    mount_path: path,
    resolved_path: path,
    refers_to: memory_store_id,
    fields: {
      memory_store_id,
      instructions: instructions ?? null,
      access: access ?? 'read_write',
      name,
      description,
    },
  }
}

/** By its name; names are not unique, so that a number may follow. */
function freePath(name: string, taken: readonly string[]): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const paths = Array.from({ length: mostStores + 1 }, (_, n) =>
    n === 0 ? `${root}/${slug}` : `${root}/${slug.slice(0, 253)}-${n + 1}`,
  )
  const isTaken = (path: string) =>
    taken.some((each) => each === path || each.startsWith(`${path}/`))
  return paths.find((path) => !isTaken(path)) ?? `${root}/${slug}`
}
