import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import type { Json } from '../core/json-text.ts'

export type MemoryTables = {
  memory_stores: {
    tenant_id: string
    id: string
    name: string
    description: string
    metadata: Json<Record<string, string>>
    agent_id: string | null
    embedding_model: string
    vector_index: string
    /** Number of memories in the store. */
    memories: number
    /** Grows with each change of a memory in the store. */
    revision: number
    archived_at: string | null
    /** Set when the store is deleted. A job then deletes its memories. */
    deleted_at: string | null
    created_at: string
    updated_at: string
  }
  memories: {
    tenant_id: string
    id: string
    store_id: string
    /** The version with the current content. */
    version_id: string
    path: string
    sha256: string
    size: number
    created_at: string
    updated_at: string
    content: string
  }
  memory_versions: {
    tenant_id: string
    id: string
    store_id: string
    memory_id: string
    operation: string
    /** Null together with `sha256`, `size` and `content` once the version is redacted. */
    path: string | null
    sha256: string | null
    size: number | null
    /** The author of the version: a key or a session. The other column is null. */
    api_key_id: string | null
    session_id: string | null
    redacted_by: Json<MemoryActor> | null
    redacted_at: string | null
    /** Null while the version is among the newest of its memory. */
    expires_at: string | null
    created_at: string
    content: string | null
  }
}
