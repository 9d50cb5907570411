/** Memory stores of a session: fixed at its creation, each at its own path. [resources/memory-store/fixed] */
import type { MemoryAccess, MemoryStoreResource } from '@steward/protocol/session-resources.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Queries } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'
import { memoryStoreStore } from '../../resources/memory-stores/store.ts'
import type { AttachContext, ResourceKind, ResourceRequest } from './kind.ts'
import { describeStores } from './memory-prompt.ts'
import { resolveStorePath } from './mount-path.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { ofType } from '../rows/resources.ts'

/** Memory stores of one session. [resources/memory-store/refused] */
const mostStores = 8
const root = '/mnt/memory'

export type AttachedStore = ResourceRow<'memory_store'>

/** `storeAccess`: the widest access that the sandbox provider supports. */
export type MemoryStoreKindDeps = { storeAccess: MemoryAccess }

export const memoryStoreKind = ({
  storeAccess,
}: MemoryStoreKindDeps): ResourceKind<'memory_store'> => ({
  attach: (tx, context, params) => attach(tx, storeAccess, context, params),
  detach: null,
  requestAgain({ type, fields, mount_path }) {
    const { memory_store_id, access, instructions } = fields
    return { type, memory_store_id, access, instructions, mount_path }
  },
  async findAbsence(read, { tenant }, { memory_store_id }) {
    const store = await rows(read, 'memory_stores').find(tenant, memory_store_id)
    if (!store) return 'missing'
    return store.archived_at === null ? undefined : 'archived'
  },
  async describe(resources) {
    return (toolHost) =>
      toolHost === undefined || toolHost === 'worker' ? '' : describeStores(resources, toolHost)
  },
  workerInput: null,
  plural: 'memory stores',
  pathsOf: (path) => [path],
})

async function attach(
  tx: Queries,
  most: MemoryAccess,
  { tenant, others, at }: AttachContext,
  { type, memory_store_id, access = 'read_write', instructions, mount_path }: MemoryStoreResource,
) {
  const attached = ofType(others, 'memory_store')
  const field = `${at}memory_store_id`
  if (attached.length === mostStores)
    throw invalid(`${field}: a session has at most ${mostStores} memory stores`)
  if (attached.some(({ fields }) => fields.memory_store_id === memory_store_id))
    throw invalid(`${field}: memory store ${memory_store_id} is attached twice`)
  if (access !== 'read_only' && most === 'read_only')
    throw invalid(
      `${at}access: sandboxes of the local provider cannot write to memory stores; attach ${memory_store_id} as read_only`,
    )
  const { name, description } = await memoryStoreStore(tx).getOpenForShare(
    tenant,
    memory_store_id,
    field,
  )
  const path = mount_path
    ? resolveStorePath(mount_path, `${at}mount_path`)
    : freePath(
        name,
        others.map((other) => other.resolved_path),
      )
  return {
    type,
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

/** A path from the store's name. Names are not unique, so a number may follow. */
function freePath(name: string, taken: readonly string[]): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const paths = Array.from({ length: mostStores + 1 }, (_, n) =>
    n === 0 ? `${root}/${slug}` : `${root}/${slug.slice(0, 253)}-${n + 1}`,
  )
  const isTaken = (path: string) =>
    taken.some((each) => each === path || each.startsWith(`${path}/`))
  return paths.find((path) => !isTaken(path)) ?? `${root}/${slug}`
}

/** The agent's own store, unless the request names it. */
export function storesOfAgent(
  { memory_store_id }: SessionAgent,
  wanted: readonly ResourceRequest[],
): ResourceRequest[] {
  const isNamed = wanted.some(
    ({ resource }) =>
      resource.type === 'memory_store' && resource.memory_store_id === memory_store_id,
  )
  if (memory_store_id === null || isNamed) return []
  return [{ resource: { type: 'memory_store', memory_store_id }, at: 'agent.' }]
}
