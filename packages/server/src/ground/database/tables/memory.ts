import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import { json, long, nullable, number, table, text } from '../table.ts'

export const memoryTables = {
  memory_stores: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'memory store',
    isHidden: true,
    columns: {
      tenant_id: text(),
      id: text(),
      name: long(text()),
      description: long(text()),
      metadata: long(json<Record<string, string>>()),
      agent_id: nullable(text()),
      embedding_model: text(),
      vector_index: text(),
      /** Number of memories in the store. */
      memories: number(),
      /** Grows with each change of a memory in the store. */
      revision: number(),
      archived_at: nullable(text()),
      /** Set when the store is deleted. A job then deletes its memories. */
      deleted_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  memories: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      store_id: text(),
      /** The version with the current content. */
      version_id: text(),
      path: text(),
      sha256: text(),
      size: number(),
      created_at: text(),
      updated_at: text(),
      content: text(),
    },
  }),
  memory_versions: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      store_id: text(),
      memory_id: text(),
      operation: text(),
      /** Null together with `sha256`, `size` and `content` once the version is redacted. */
      path: nullable(text()),
      sha256: nullable(text()),
      size: nullable(number()),
      /** The author of the version: a key or a session. The other column is null. */
      api_key_id: nullable(text()),
      session_id: nullable(text()),
      redacted_by: nullable(json<MemoryActor>()),
      redacted_at: nullable(text()),
      /** Null while the version is among the newest of its memory. */
      expires_at: nullable(text()),
      created_at: text(),
      content: nullable(text()),
    },
  }),
}
