/**
 * Memory stores of the session. Changes are written to the service after the call that made them.
 * [worker/input/memory-conflicts]
 */
import { join } from 'node:path'
import type { MountedStoreRow } from '@steward/space/memory/stores.ts'
import { mountStores as mount } from '@steward/space/memory/stores.ts'
import {
  MemoryContents,
  MemoryOutcomes,
  StoreFacts,
  StoreRevisions,
} from '@steward/protocol/inputs.ts'
import type { MountInput, InputTarget } from './input.ts'

export const mountStores: MountInput = async ({ client, session, folder, isHost }) => {
  const attached = session.resources.filter((each) => each.type === 'memory_store')
  if (attached.length === 0) return {}
  const written = attached.find(({ access }) => access !== 'read_only')
  if (isHost && written)
    throw new Error(
      `sandboxes of the local provider cannot write to memory stores, and ${written.memory_store_id} is attached to ${session.id} with access ${written.access}`,
    )
  const path = `/v1/ext/inputs/${session.id}/stores`
  return mount({
    folder: join(folder, 'memory'),
    scratch: join(folder, 'scratch'),
    stores: attached.map((each) => ({
      ...keptAt(client, `${path}/${each.memory_store_id}`),
      id: each.memory_store_id,
      path: each.mount_path ?? '',
      access: each.access === 'read_only' ? ('read_only' as const) : ('read_write' as const),
    })),
    async revisions() {
      const { revisions } = StoreRevisions.parse(await client.get(path))
      return new Map(Object.entries(revisions))
    },
    now: () => Date.now(),
  })
}

/** The memories as the service has them. */
const keptAt = (
  client: InputTarget['client'],
  path: string,
): Pick<MountedStoreRow, 'facts' | 'contents' | 'write'> => ({
  async facts() {
    const { facts } = StoreFacts.parse(await client.get(path))
    return facts ? { revision: facts.revision, hashes: new Map(facts.hashes) } : undefined
  },
  async contents(paths) {
    return MemoryContents.parse(await client.post(`${path}/contents`, { body: { paths } })).memories
  },
  async write(changes) {
    const answer = await client.post(`${path}/changes`, { body: { changes } })
    return MemoryOutcomes.parse(answer).written ?? undefined
  },
})
