import type {
  DreamBehavior,
  DreamError,
  DreamModel,
  DreamStatus,
  DreamUsage,
} from '@steward/protocol/dreams.ts'
import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import type { Json } from '../core/json-text.ts'

export type DreamTables = {
  dreams: {
    tenant_id: string
    id: string
    status: DreamStatus
    memory_store_id: string
    session_ids: Json<string[]>
    model: Json<DreamModel>
    instructions: string | null
    output_behavior: DreamBehavior['type']
    output_store_id: string | null
    /** The store that `update_existing` writes to, until the dream has fully stopped: a store is held once. */
    held_store_id: string | null
    /** The path of the memory that was copied last to a new store. */
    copied_path: string | null
    /** Who asked for the dream: memories are copied in this name. */
    actor: Json<MemoryActor>
    session_id: string | null
    error: Json<DreamError> | null
    /** What the session has used, once it has stopped; before, its head says it. */
    usage: Json<DreamUsage> | null
    /** 0 while a process has to look after the dream: until its session has stopped. */
    stopped: 0 | 1
    started_at: string | null
    archived_at: string | null
    created_at: string
    updated_at: string
    ended_at: string | null
  }
}
