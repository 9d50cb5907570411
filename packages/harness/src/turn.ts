/** The harness's door: one turn in, its events out. It knows no tenant, database or HTTP server. */
import type { AssistantBlock, Message, Model, Origin, UserBlock } from '@steward/model/model.ts'
import type { Tool } from './tools/tool.ts'

export type StopReason =
  | { type: 'end_turn' }
  | { type: 'requires_action'; event_ids: string[] }
  | { type: 'retries_exhausted' }
  | { type: 'refusal' }
export type { AssistantBlock, Message, Origin, UserBlock }
export type { Tool, Model }
