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
    /** The store that `update_existing` writes to, until the dream has stopped. Unique: one dream holds a store. */
    held_store_id: string | null
    /** The path of the memory that was last copied to the new store. */
    copied_path: string | null
    /** The creator of the dream. Copied memories name this author. */
    actor: Json<MemoryActor>
    session_id: string | null
    error: Json<DreamError> | null
    /** The usage of the session once it has stopped. Before, the session's head has it. */
    usage: Json<DreamUsage> | null
    /** 0 until the dream's session has stopped: a job has to look after the dream. */
    stopped: 0 | 1
    started_at: string | null
    archived_at: string | null
    created_at: string
    updated_at: string
    ended_at: string | null
  }
}
