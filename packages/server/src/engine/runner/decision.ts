/** A table that decides the next action of a session from its state and from the work that was found. */
import type { SessionState } from '../../sessions/log/head.ts'

/**
 * The first finding that is true wins, in this order. `unanswered`: a call waits for a person or a client. `answered`:
 * calls are open and none of them waits. `outcome`: an outcome was defined, and no turn has seen it.
 */
export const stepFindings = [
  'interrupt',
  'unanswered',
  'answered',
  'messages',
  'outcome',
  'nothing',
] as const
export type StepFinding = (typeof stepFindings)[number]

export type StepAction =
  /** Remove everything that the deleted session left on this machine. */
  | 'remove'
  /** Close the calls and cancel the messages before the interrupt. Messages after the interrupt begin a turn. */
  | 'settle_interrupt'
  /** Make the first model request of a turn, once its MCP servers are known. */
  | 'begin'
  /** Continue a turn that its process left. */
  | 'recover'
  /** Append the idle event again, with the calls that still wait. */
  | 'ask_again'
  /** Continue a turn whose calls have all been answered. */
  | 'resume'
  /** Begin one turn with all waiting messages. */
  | 'promote'
  /** Let the grader judge what the last turn did. */
  | 'evaluate'
  | 'rest'

const unlessInterrupted = (action: StepAction): Record<StepFinding, StepAction> => ({
  interrupt: 'settle_interrupt',
  unanswered: action,
  answered: action,
  messages: action,
  outcome: action,
  nothing: action,
})

const betweenTurns: Record<StepFinding, StepAction> = {
  interrupt: 'settle_interrupt',
  unanswered: 'ask_again',
  answered: 'resume',
  messages: 'promote',
  outcome: 'promote',
  nothing: 'rest',
}

const actions: Record<SessionState, Record<StepFinding, StepAction>> = {
  resting: betweenTurns,
  // Messages wait until the calls are answered. `messages` and `nothing` mean that no call is open, so all calls are
  // answered.
  requires_action: { ...betweenTurns, messages: 'resume', outcome: 'resume', nothing: 'resume' },
  awaits_servers: unlessInterrupted('begin'),
  running: unlessInterrupted('recover'),
  rescheduling: unlessInterrupted('recover'),
  // Messages that came before the evaluation steer the work first; later ones wait until it is judged.
  evaluating: unlessInterrupted('evaluate'),
  // Messages that were accepted before the budget was reached wait until it is raised.
  budget_reached: { ...betweenTurns, messages: 'rest', outcome: 'rest' },
  // The turn that was left comes before messages that wait.
  budget_raised: { ...betweenTurns, messages: 'resume', outcome: 'resume', nothing: 'resume' },
  done: betweenTurns,
  deleted: { ...unlessInterrupted('remove'), interrupt: 'remove' },
}

export const actionFor = (state: SessionState, finding: StepFinding): StepAction =>
  actions[state][finding]
