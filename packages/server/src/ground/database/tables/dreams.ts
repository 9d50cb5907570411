import type {
  DreamBehavior,
  DreamError,
  DreamModel,
  DreamStatus,
  DreamUsage,
} from '@steward/protocol/dreams.ts'
import type { MemoryActor } from '@steward/protocol/memory-stores.ts'
import { json, long, nullable, number, table, text } from '../table.ts'

export const dreamTables = {
  dreams: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'dream',
    columns: {
      tenant_id: text(),
      id: text(),
      status: text<DreamStatus>(),
      memory_store_id: text(),
      session_ids: long(json<string[]>()),
      model: json<DreamModel>(),
      instructions: nullable(long(text())),
      output_behavior: text<DreamBehavior['type']>(),
      output_store_id: nullable(text()),
      /** The store that `update_existing` writes to, until the dream has stopped. Unique: one dream holds a store. */
      held_store_id: nullable(text()),
      /** The path of the memory that was last copied to the new store. */
      copied_path: nullable(long(text())),
      /** The creator of the dream. Copied memories name this author. */
      actor: json<MemoryActor>(),
      session_id: nullable(text()),
      error: nullable(long(json<DreamError>())),
      /** The usage of the session once it has stopped. Before, the session's head has it. */
      usage: nullable(json<DreamUsage>()),
      /** 0 until the dream's session has stopped: a job has to look after the dream. */
      stopped: number<0 | 1>(),
      started_at: nullable(text()),
      archived_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
      ended_at: nullable(text()),
    },
  }),
}
