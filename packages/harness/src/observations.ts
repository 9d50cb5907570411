/** Observations of the tool calls of a process's turns. */
import { createObservation } from '@steward/base/observation.ts'

export type EndedToolCall = {
  /** The name that the model uses. Workspaces choose the names of their own tools. */
  tool: string
  /** Id of the call's event. */
  callId: string
  /** The `cacheKey` of the turn. */
  conversation: string
  isError: boolean
  ms: number
}

/** Published for each call that ran in this process, and for no call that a client or a worker answers. */
export const toolCallEnded = createObservation<EndedToolCall>('tool-call-ended')
