/** Turns the log of a session into tellings for the people of its thread. */
import type { CallEvent } from '@steward/protocol/call-events.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { waitsForPerson } from '../../../sessions/log/calls.ts'
import type { Telling } from '../integration.ts'
import { findPullRequestLinks } from '../github/links.ts'
import { hasRemarks } from '../github/remarks.ts'
import { parseTaskList } from './plan.ts'

export type LogEvent = { seq: number; event: NewEvent & { id: string } }

/** The tellings about the event at `seq`, in order. Most events have none. */
export type TellingStep = { seq: number; tellings: readonly Telling[] }

/** The types of all events that `foldSteps` reads. */
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
  'user.tool_result',
  'session.status_idle',
  'session.status_terminated',
  'session.error',
  'system.user_message_cancelled',
] as const

/** The ids of the calls that the tellings of these events need. */
export const callsIn = (events: readonly LogEvent[]): string[] =>
  events.flatMap(({ event }) => {
    if (event.type === 'agent.tool_result' || event.type === 'user.tool_result')
      return [event.tool_use_id]
    if (event.type === 'agent.mcp_tool_result') return [event.mcp_tool_use_id]
    return waitingCalls(event)
  })

const waitingCalls = (event: NewEvent): readonly string[] =>
  event.type === 'session.status_idle' && event.stop_reason.type === 'requires_action'
    ? event.stop_reason.event_ids
    : []

/**
 * The calls of workers that needed a confirmation and had no result as a turn ended. The tellings need to know when
 * such a call was confirmed: any other call without a result is not confirmed.
 */
export const workerCallsIn = (events: readonly LogEvent[], callOf: CallOf): string[] =>
  events.flatMap(({ event }) =>
    waitingCalls(event).filter((id) => {
      const call = callOf(id)?.event
      return call && waitsForPerson(call, false) && 'executed_by' in call
    }),
  )

/** `settledSeq`: of a call of `workerCallsIn`, the number of the event that confirmed or answered it. */
export type ToldCall = { event: CallEvent; settledSeq?: number }

/** Finds a call by its id; undefined for an unknown call. */
export type CallOf = (id: string) => ToldCall | undefined

const textOf = (content: readonly { type: string; text?: string }[]): string =>
  content.flatMap(({ text }) => text ?? []).join('\n\n')

/** True for an event that shows whether the message before it was the last of its turn. */
const decides = ({ type }: NewEvent): boolean => !type.endsWith('_result')

/** True when the tellings of these events need the event before them. */
export const needsEarlier = (events: readonly LogEvent[]): boolean => {
  const first = events.find(({ event }) => event.type !== 'user.tool_result')
  return first?.event.type === 'session.status_idle'
}

/**
 * The steps of these events, in the order of the log. The steps end before a message that may or may not be the last of
 * its turn: a later read tells that message. `earlier`: the last event of `toldTypes` before these events that is no
 * result of a worker.
 */
export function foldSteps(
  events: readonly LogEvent[],
  callOf: CallOf,
  earlier?: NewEvent,
): TellingStep[] {
  const steps: TellingStep[] = []
  // After each result of a worker, the session idles again with the calls that are left.
  let before = earlier
  for (const [index, { seq, event }] of events.entries()) {
    if (event.type === 'agent.message') {
      const next = events.slice(index + 1).find((each) => decides(each.event))?.event
      if (!next) return steps
      const isLast =
        next.type === 'session.status_idle' || next.type === 'session.status_terminated'
      const text = textOf(event.content)
      steps.push({ seq, tellings: messageOf(event.id, text, isLast ? 'reply' : 'thought') })
      before = event
      continue
    }
    const told = before ? waitingCalls(before) : []
    const isWordless = before !== undefined && !endsInWords(before)
    if (event.type !== 'user.tool_result') before = event
    const tellings = tellingsOf({ seq, event }, callOf).filter(
      (each) => !isAbout(each, told) && (each.kind !== 'ended' || isWordless),
    )
    steps.push({ seq, tellings })
  }
  return steps
}

/** True for an event whose tellings end a turn in words, and for its end: what follows has no words of its own to say. */
function endsInWords(event: NewEvent): boolean {
  if (event.type === 'agent.message') return textOf(event.content).trim() !== ''
  if (event.type === 'session.error') return event.error.retry_status.type !== 'retrying'
  return event.type === 'session.status_idle' || event.type === 'user.interrupt'
}

/** True for a question about one of these calls, and for its buttons. */
const isAbout = (telling: Telling, calls: readonly string[]): boolean =>
  (telling.kind === 'question' || telling.kind === 'confirmation') && calls.includes(telling.call)

function messageOf(id: string, text: string, kind: 'reply' | 'thought'): Telling[] {
  if (text.trim() === '') return []
  const steps = parseTaskList(text)
  const links = findPullRequestLinks(text)
  const tellings: Telling[] = [{ kind, id, text }]
  if (kind === 'reply' && hasRemarks(text))
    tellings.unshift({ kind: 'remarks', id: `${id}.remarks`, text })
  if (links.length > 0) tellings.unshift({ kind: 'links', id: `${id}.links`, links })
  if (steps) tellings.unshift({ kind: 'plan', id: `${id}.plan`, steps })
  return tellings
}

function tellingsOf({ seq, event }: LogEvent, callOf: CallOf): Telling[] {
  const { id } = event
  switch (event.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
      return [{ kind: 'action', id, call: id, ...shown(event), result: null, isError: false }]
    case 'agent.tool_result':
    case 'user.tool_result':
      return resultOf(id, event.tool_use_id, event, callOf)
    case 'agent.mcp_tool_result':
      return resultOf(id, event.mcp_tool_use_id, event, callOf)
    case 'user.message':
      return [{ kind: 'begun', id }]
    case 'system.user_message_cancelled':
      return [{ kind: 'begun', id: event.message_id }]
    case 'user.interrupt':
      return [{ kind: 'stopped', id }]
    case 'session.status_idle':
      return [
        ...endOf({ seq, id }, event.stop_reason, callOf),
        { kind: 'files', id: `${id}.files` },
      ]
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
  return [{ kind: 'action', id, call, ...shown(made.event), result, isError: is_error === true }]
}

type StopReason = Extract<NewEvent, { type: 'session.status_idle' }>['stop_reason']

/** An idle event. */
type TurnEnd = { seq: number; id: string }

function endOf(end: TurnEnd, reason: StopReason, callOf: CallOf): Telling[] {
  const { id } = end
  switch (reason.type) {
    case 'requires_action':
      return questionsOf(end, reason.event_ids, callOf)
    case 'budget_reached':
      return [{ kind: 'error', id, message: 'The budget of the session is used up.' }]
    case 'refusal':
      return [{ kind: 'error', id, message: 'The model has refused to answer.' }]
    case 'retries_exhausted':
    case 'end_turn':
      return [{ kind: 'ended', id }]
  }
}

/** True when people had to answer the call as the turn ended. A worker runs any other call. */
const isQuestion = ({ event, settledSeq = Infinity }: ToldCall, { seq }: TurnEnd): boolean =>
  waitsForPerson(event, settledSeq < seq)

/** The questions of a turn. All buttons follow behind the questions. */
function questionsOf(end: TurnEnd, calls: readonly string[], callOf: CallOf): Telling[] {
  const questions = calls.flatMap((call) => {
    const made = callOf(call)
    if (!made || !isQuestion(made, end)) return []
    const needs = made.event.type === 'agent.custom_tool_use' ? 'answer' : 'confirmation'
    const id = `${end.id}.${call}`
    return [{ kind: 'question', id, call, needs, ...shown(made.event) } as const]
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
