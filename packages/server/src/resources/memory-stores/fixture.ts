/** For tests: a store and its writes, each in its own transaction. */
import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { versionStore } from './versions.ts'
import type { MemoryWriteContext } from './write.ts'
import * as write from './write.ts'
import { rows } from '../../ground/database/rows.ts'

export const tenant = 'wrkspc_test'
export const start = Date.UTC(2030, 0)
export const day = 24 * 60 * 60 * 1000
const actor: MemoryActor = { type: 'api_actor', api_key_id: 'apikey_1' }

export async function storeIn(database: Database) {
  const id = newId('memory_store')
  const at = iso(start)
  const row = {
    tenant_id: tenant,
    id,
    name: 'notes',
    description: '',
    metadata: {},
    agent_id: null,
    embedding_model: 'none',
    vector_index: id,
    memories: 0,
    revision: 0,
    archived_at: null,
    deleted_at: null,
    created_at: at,
    updated_at: at,
  }
  await database.write((tx) => rows(tx, 'memory_stores').insert(row))
  const unit =
    <Rest extends unknown[], T>(run: (at: MemoryWriteContext, ...rest: Rest) => Promise<T>) =>
    (now: number, ...rest: Rest) =>
      database.write((tx) =>
        run({ tx, tenant, store: id, actor, now, checkRoom: async () => {} }, ...rest),
      )
  return {
    id,
    create: unit(write.createMemory),
    update: unit(write.updateMemory),
    remove: unit(write.deleteMemory),
    redact: unit(write.redactVersion),
    row: () => rows(database.read, 'memory_stores').get(tenant, id),
    /** The newest first. */
    versions: async (filter: { memory_id?: string } = {}) => {
      const paging = { limit: 1000, order: 'desc' } as const
      const asked = { paging, filter, made: [], view: 'full' } as const
      return (await versionStore(database.read).list(tenant, id, asked)).rows
    },
  }
}
