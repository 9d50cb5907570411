/** Turns the log of a session into tellings for the people of its thread. */
import type { NewEvent } from '@steward/protocol/events.ts'
import type { Telling } from './integration.ts'
import { linksOf } from './links.ts'
import { planOf } from './plan.ts'

export type LogEvent = { seq: number; event: NewEvent & { id: string } }

/** The tellings about the event at `seq`, in order. Most events have none. */
export type TellingStep = { seq: number; tellings: readonly Telling[] }

/** The types of all events that `stepsOf` reads. */
export const toldTypes = [
  'agent.message',
  'agent.tool_use',
  'agent.mcp_tool_use',
  'agent.custom_tool_use',
  'agent.tool_result',
  'agent.mcp_tool_result',
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'session.status_idle',
  'session.status_terminated',
  'session.error',
] as const

/** The ids of the calls that the tellings of these events need. */
export const callsIn = (events: readonly LogEvent[]): string[] =>
  events.flatMap(({ event }) => {
    if (event.type === 'agent.tool_result') return [event.tool_use_id]
    if (event.type === 'agent.mcp_tool_result') return [event.mcp_tool_use_id]
    if (event.type !== 'session.status_idle') return []
    return event.stop_reason.type === 'requires_action' ? event.stop_reason.event_ids : []
  })

/** Finds a call by its id; undefined for an unknown call. */
export type CallOf = (id: string) => { name: string; input: object; type: string } | undefined

const textOf = (content: readonly { type: string; text?: string }[]): string =>
  content.flatMap(({ text }) => text ?? []).join('\n\n')

/** True for an event that shows whether the message before it was the last of its turn. */
const decides = ({ type }: NewEvent): boolean => !type.endsWith('_result')

/**
 * The steps of these events, in the order of the log. The steps end before a message that may or may not be the last of
 * its turn: a later read tells that message.
 */
export function stepsOf(events: readonly LogEvent[], callOf: CallOf): TellingStep[] {
  const steps: TellingStep[] = []
  for (const [index, { seq, event }] of events.entries()) {
    if (event.type === 'agent.message') {
      const next = events.slice(index + 1).find((each) => decides(each.event))?.event
      if (!next) return steps
      const isLast =
        next.type === 'session.status_idle' || next.type === 'session.status_terminated'
      const text = textOf(event.content)
      steps.push({ seq, tellings: messageOf(event.id, text, isLast ? 'reply' : 'thought') })
      continue
    }
    steps.push({ seq, tellings: tellingsOf(event, callOf) })
  }
  return steps
}

function messageOf(id: string, text: string, kind: 'reply' | 'thought'): Telling[] {
  if (text.trim() === '') return []
  const steps = planOf(text)
  const links = linksOf(text)
  const tellings: Telling[] = [{ kind, id, text }]
  if (links.length > 0) tellings.unshift({ kind: 'links', id: `${id}.links`, links })
  if (steps) tellings.unshift({ kind: 'plan', id: `${id}.plan`, steps })
  return tellings
}

function tellingsOf(event: LogEvent['event'], callOf: CallOf): Telling[] {
  const { id } = event
  switch (event.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
      return [{ kind: 'action', id, call: id, ...shown(event), result: null, isError: false }]
    case 'agent.tool_result':
      return resultOf(id, event.tool_use_id, event, callOf)
    case 'agent.mcp_tool_result':
      return resultOf(id, event.mcp_tool_use_id, event, callOf)
    case 'user.message':
      return [{ kind: 'begun', id }]
    case 'session.status_idle':
      return [...endOf(id, event.stop_reason, callOf), { kind: 'files', id: `${id}.files` }]
    case 'session.status_terminated':
      return [{ kind: 'error', id, message: 'The session has ended.' }]
    case 'session.error':
      return event.error.retry_status.type === 'retrying'
        ? []
        : [{ kind: 'error', id, message: event.error.message }]
    default:
      return []
  }
}

const shown = ({ name, input }: { name: string; input: object }) => ({
  name,
  input: JSON.stringify(input),
})

type Result = {
  content?: readonly { type: string; text?: string }[] | null
  is_error?: boolean | null
}

function resultOf(
  id: string,
  call: string,
  { content, is_error }: Result,
  callOf: CallOf,
): Telling[] {
  const made = callOf(call)
  if (!made) return []
  const result = textOf(content ?? [])
  return [{ kind: 'action', id, call, ...shown(made), result, isError: is_error === true }]
}

type StopReason = Extract<NewEvent, { type: 'session.status_idle' }>['stop_reason']

function endOf(id: string, reason: StopReason, callOf: CallOf): Telling[] {
  switch (reason.type) {
    case 'requires_action':
      return questionsOf(id, reason.event_ids, callOf)
    case 'budget_reached':
      return [{ kind: 'error', id, message: 'The budget of the session is used up.' }]
    case 'refusal':
      return [{ kind: 'error', id, message: 'The model has refused to answer.' }]
    case 'retries_exhausted':
    case 'end_turn':
      return []
  }
}

/** The questions of a turn. All buttons follow behind the questions. */
function questionsOf(id: string, calls: readonly string[], callOf: CallOf): Telling[] {
  const questions = calls.flatMap((call) => {
    const made = callOf(call)
    if (!made) return []
    const needs = made.type === 'agent.custom_tool_use' ? 'answer' : 'confirmation'
    return [{ kind: 'question', id: `${id}.${call}`, call, needs, ...shown(made) } as const]
  })
  const confirmed = questions.filter(({ needs }) => needs === 'confirmation')
  const buttons = confirmed.map(({ id: question, call, name, input }): Telling => ({
    kind: 'confirmation',
    id: `${question}.buttons`,
    call,
    name,
    input,
  }))
  return [...questions, ...buttons]
}
