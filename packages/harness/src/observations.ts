/** What a process tells of the work of its turns. */
import { observation } from '@steward/base/observation.ts'

export type EndedToolCall = {
  /** As the model names it; workspaces choose the names of their own tools. */
  tool: string
  /** Id of its event. */
  callId: string
  /** The `cacheKey` of the turn. */
  conversation: string
  isError: boolean
  ms: number
}

/** Calls that ran here: not those that wait for a client or a worker. */
export const toolCallEnded = observation<EndedToolCall>('tool-call-ended')
