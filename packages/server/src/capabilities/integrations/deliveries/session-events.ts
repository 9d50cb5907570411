/** The events that a delivery becomes in the session of its thread. */
import type { ClientEvent } from '@steward/protocol/events.ts'
import { invalid } from '../../../ground/core/errors.ts'
import type { PendingCall } from '../../../sessions/log/calls.ts'
import { fencedText } from './fence.ts'
import type { HeardDelivery } from './allowed.ts'
import type { IncomingDecision, IncomingMessage, Notes } from '../integration.ts'
import { codeOf, questionNote } from '../answers/questions.ts'
import { isOfPerson } from './wake-counts.ts'
import { parseCommand } from './words.ts'

export type SessionEvents =
  | { kind: 'events'; events: ClientEvent[] }
  | { kind: 'ignored'; reason: string }

/** A button was pressed before its message was noted. */
export class EarlyPressError extends Error {}

/** `notes`: the notes of the thread. `calls`: the calls of the session that have no result. */
export type OpenSessionState = { notes: Notes; calls: readonly PendingCall[] }

/** What the provider says around a message. */
type Around = Parameters<typeof fencedText>[1]

export const noSession = 'the thread has no session that this could be about'

const given = (event: ClientEvent): SessionEvents => ({ kind: 'events', events: [event] })

const ignored = (reason: string): SessionEvents => ({ kind: 'ignored', reason })

const messageOf = (text: string): ClientEvent => ({
  type: 'user.message',
  content: [{ type: 'text', text }],
})

const confirmationOf = (
  call: string,
  { result, author }: { result: 'allow' | 'deny'; author: string },
): ClientEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: call,
  result,
  ...(result === 'deny' && { deny_message: `${author} has denied this call.` }),
})

/** `open`: undefined when the thread has no session that accepts events. */
export function buildSessionEvents(
  received: HeardDelivery,
  open: OpenSessionState | undefined,
  around?: Around,
): SessionEvents {
  if (!open)
    return received.kind === 'message'
      ? given(messageOf(fencedText(received, around)))
      : ignored(noSession)
  switch (received.kind) {
    case 'interrupt':
      return given({ type: 'user.interrupt' })
    case 'decision':
      return eventOfDecision(received, open.notes)
    case 'message':
      return given(eventOfMessage(received, open.calls, around))
  }
}

/**
 * Attack: a program with the app's token can post another message with a button for the same call. So a button counts
 * only on the noted message.
 */
function eventOfDecision(decision: IncomingDecision, notes: Notes): SessionEvents {
  const message = notes[questionNote(decision.call)]
  if (message === undefined) return ignored('the thread has no such open question')
  if (message === null) throw new EarlyPressError('the message of this button is not known')
  return String(message) === decision.message
    ? given(confirmationOf(decision.call, decision))
    : ignored('the button is not on the message of its question')
}

function eventOfMessage(
  received: IncomingMessage,
  calls: readonly PendingCall[],
  around: Around,
): ClientEvent {
  // Nobody has written it, so it answers nothing.
  if (received.wake && !isOfPerson(received.wake)) return messageOf(fencedText(received, around))
  const command = parseCommand(received.text)
  if (command?.kind === 'stop') return { type: 'user.interrupt' }
  const asked = calls.filter(({ state }) => state === 'asked')
  if (command) {
    const { author, questions = [] } = received
    const told = asked.filter(({ event_id }) => questions.includes(event_id))
    const call = callMeant(told, command.code)
    if (call) return confirmationOf(call.event_id, { result: command.result, author })
  }
  const [question] = calls.filter(({ type }) => type === 'agent.custom_tool_use')
  if (question && asked.length === 0)
    return {
      type: 'user.custom_tool_result',
      custom_tool_use_id: question.event_id,
      content: [{ type: 'text', text: fencedText(received, around) }],
    }
  return messageOf(fencedText(received, around))
}

/** Throws when a word without a code could answer several questions. */
function callMeant(
  told: readonly PendingCall[],
  code: string | undefined,
): PendingCall | undefined {
  const meant = told.filter(({ event_id }) => code === undefined || codeOf(event_id) === code)
  if (meant.length <= 1) return meant[0]
  const codes = told.map(({ event_id }) => `\`approve ${codeOf(event_id)}\``)
  throw invalid(
    `${told.length} questions are open: answer each by its button, or with its code, as ${codes.join(', ')}`,
  )
}
