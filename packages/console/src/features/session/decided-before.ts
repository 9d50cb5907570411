/** What people have decided about a tool in this session, and where its call goes. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { decidedWords as own } from './words.ts'

type Decisions = { approved: number; denied: number }

/** `tool`: the name that its calls have. */
export function decisionsAbout(tool: string, events: readonly SessionEvent[]): Decisions {
  const calls = new Set(
    events.flatMap((event) =>
      (event.type === 'agent.tool_use' || event.type === 'agent.mcp_tool_use') &&
      event.name === tool
        ? event.id
        : [],
    ),
  )
  const decided = events.flatMap((event) =>
    event.type === 'user.tool_confirmation' && calls.has(event.tool_use_id) ? event.result : [],
  )
  const approved = decided.filter((result) => result === 'allow').length
  return { approved, denied: decided.length - approved }
}

/** `isAll`: no earlier decision was left out. */
export function decidedText(tool: string, { approved, denied }: Decisions, isAll: boolean): string {
  const parts = [
    ...(approved > 0 ? [own.approved(approved)] : []),
    ...(denied > 0 ? [own.denied(denied)] : []),
  ]
  if (parts.length === 0) return own.never
  const said = parts.join(', ')
  return own.before(tool, isAll ? said : own.atLeast(said))
}
