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
    /** How many lie in it now. */
    memories: number
    /** Moves with each change of what lies in it. */
    revision: number
    archived_at: string | null
    /** It is no more, and what lay in it is being removed. */
    deleted_at: string | null
    created_at: string
    updated_at: string
  }
  memories: {
    tenant_id: string
    id: string
    store_id: string
    /** The version that is its present content. */
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
    /** Null, with hash, size and content, once redacted. */
    path: string | null
    sha256: string | null
    size: number | null
    /** One of the two made it. */
    api_key_id: string | null
    session_id: string | null
    redacted_by: Json<MemoryActor> | null
    redacted_at: string | null
    /** Null while it is among the newest of its memory. */
    expires_at: string | null
    created_at: string
    content: string | null
  }
}
