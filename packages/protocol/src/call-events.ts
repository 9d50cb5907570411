/** Calls in a log. */
import type { EventType, NewEvent } from './events.ts'

/** The events that make calls. Each call gets a result. */
export const callTypes = [
  'agent.tool_use',
  'agent.mcp_tool_use',
  'agent.custom_tool_use',
  'agent.advisor_tool_use',
] as const satisfies readonly EventType[]

export type CallEvent = Extract<NewEvent, { type: (typeof callTypes)[number] }>

export const isCall = (event: NewEvent): event is CallEvent =>
  callTypes.some((type) => type === event.type)
