/** Reports egress refusals while a tool ran: a line for the model and an event for people. Also other notices. */
import type { GateRefusal } from '@steward/gate/outbound.ts'
import type { KeptEvent } from './kept-event.ts'
import type { ToolResult } from './tools/tool.ts'
import type { Turn } from './turn.ts'

/** A program that retries causes one line for each host. */
const mostTold = 20

/**
 * The result as the model sees it, and the events to store with it. A refusal is reported once, with the first result
 * that asks.
 */
export function withRefusals(
  turn: Turn,
  callId: string,
  result: ToolResult,
): { result: ToolResult; warnings: KeptEvent[] } {
  const refused = [...new Set(turn.refusals().map(lineOf))].slice(0, mostTold)
  const warning = (reason: string, message: string): KeptEvent => {
    const id = turn.newEventId()
    return { event: { id, type: 'session.warning', reason, message, event_ids: [callId] } }
  }
  const noticed = turn.notices()
  const notices = noticed.map(({ reason, message }) => warning(reason, message))
  const lines = [...noticed.flatMap(({ message, told }) => (told ? message : [])), ...refused]
  if (lines.length === 0) return { result, warnings: notices }
  const said = JSON.stringify(result.content)
  const news = lines.filter((line) => !said.includes(JSON.stringify(line).slice(1, -1)))
  const told = { type: 'text' as const, text: news.join('\n') }
  const content = news.length > 0 ? [...result.content, told] : result.content
  const warnings = refused.map((message) => warning('egress_refused', message))
  return { result: { ...result, content }, warnings: [...notices, ...warnings] }
}

const lineOf = ({ host, reason, message }: GateRefusal): string =>
  `egress denied: ${host} (${reason}: ${message})`
