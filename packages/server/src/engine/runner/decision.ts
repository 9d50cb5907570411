/** What a session needs next, as a table: where it stands, and what was found beside it. */
import type { SessionState } from '../../sessions/log/head.ts'

/** The first that holds, in this order. `unanswered`: calls that wait for somebody; `answered`: open calls, and none of them waits. */
export const findings = ['interrupt', 'unanswered', 'answered', 'messages', 'nothing'] as const
export type Finding = (typeof findings)[number]

export type Action =
  /** Clear away what the deleted session left. */
  | 'remove'
  /** Close what the interrupt stops; messages behind it begin a turn. */
  | 'settle_interrupt'
  /** Make the first model request of a turn, as far as its servers are known. */
  | 'begin'
  /** Go on with a turn that its process left. */
  | 'take_up'
  /** Say again which calls wait. */
  | 'ask_again'
  /** Go on with a turn whose calls have all been answered. */
  | 'resume'
  /** Begin a turn with all messages that wait. */
  | 'promote'
  | 'rest'

const unlessInterrupted = (action: Action): Record<Finding, Action> => ({
  interrupt: 'settle_interrupt',
  unanswered: action,
  answered: action,
  messages: action,
  nothing: action,
})

const betweenTurns: Record<Finding, Action> = {
  interrupt: 'settle_interrupt',
  unanswered: 'ask_again',
  answered: 'resume',
  messages: 'promote',
  nothing: 'rest',
}

const actions: Record<SessionState, Record<Finding, Action>> = {
  resting: betweenTurns,
  // Messages wait until the calls are answered. Where no call is left open, all of them are.
  requires_action: { ...betweenTurns, messages: 'resume', nothing: 'resume' },
  awaits_servers: unlessInterrupted('begin'),
  running: unlessInterrupted('take_up'),
  rescheduling: unlessInterrupted('take_up'),
  done: betweenTurns,
  deleted: { ...unlessInterrupted('remove'), interrupt: 'remove' },
}

export const actionFor = (state: SessionState, finding: Finding): Action => actions[state][finding]
