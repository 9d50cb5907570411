/**
 * How often a turn has ended its process, counted in the head's `recoveries`. The claim that takes a turn over from a
 * dead owner counts one; `begunMore` comes on top where the turn had begun a model request or a call in that life. A
 * turn that had begun nothing dies for the sake of others far more often than by being taken up. [running/recovery/given-up]
 */
import type { Queries } from '../../ground/database/database.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import type { Head } from '../../sessions/log/head.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import { eventOf, readEvents } from '../../sessions/log/log.ts'
import { isWorking } from '../../sessions/log/threads/team.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

const begunMore = 4
/** A turn is given up beyond this count: with the sixth death in a row during its work, or the 26th before any. */
const most = 25
/** From this count on, with the second death during its work, the turn may be what ends the process. */
const suspicious = 10

/** A turn that a dead process left. `size`: number of events of its session. */
export type RecoveredTurn = { isSuspect: boolean; size: number }

/** The count after a death that the claim has counted. `hasBegun`: the turn had begun to work in that life. */
export function countDeath(
  { recoveries: claimed, next_seq }: Head,
  hasBegun: boolean,
): { recoveries: number; isGivenUp: boolean; recovered: RecoveredTurn } {
  const recoveries = hasBegun ? claimed + begunMore : claimed
  const recovered = { isSuspect: recoveries >= suspicious, size: next_seq }
  return { recoveries, recovered, isGivenUp: recoveries > most }
}

/**
 * The same for an evaluation, whose log does not show in which lives it had begun. A suspect begins when it has waited,
 * and counts its next death then. `hasDied`: the claim has counted a death. `hasStarted`: its start is in the log.
 */
export function countEvaluation(
  head: Head,
  { hasDied, hasWaited, hasStarted }: { hasDied: boolean; hasWaited: boolean; hasStarted: boolean },
): ReturnType<typeof countDeath> {
  if (!hasDied) return { ...countDeath(head, hasWaited && hasStarted), isGivenUp: false }
  const hadWaited = head.recoveries - 1 >= suspicious
  return countDeath(head, hasStarted && !hadWaited)
}

/** `left`: see `abandonedTurnEvents`. */
export const hadBegun = (open: readonly PendingCall[], left: readonly LogEntry[]): boolean =>
  open.some(({ state }) => state === 'started') ||
  left.some(({ event }) => event.type.startsWith('span.'))

export const givenUpMessage =
  'the process that ran this turn ended again and again; the turn was given up'

/** Events of an agent that show that its session can continue. */
const signsOfLife = [
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.mcp_tool_use',
  'agent.custom_tool_use',
  'agent.advisor_tool_use',
] as const

/**
 * True when this turn is the second one in a row to be given up, without an event of the agent in between. False for a
 * child thread and while other threads work: then the turn fails alone, and the parent of a child thread gets a
 * message.
 */
export async function wasGivenUpBefore(
  tx: Queries,
  { tenant, session, thread }: ThreadRef,
  { team }: Head,
): Promise<boolean> {
  const others = team?.others ?? []
  if (thread !== undefined || others.some(({ due, status }) => due === 1 || isWorking(status)))
    return false
  const types = ['session.error', ...signsOfLife] as const
  const range = { types, order: 'desc', limit: 1, thread: null } as const
  const [last] = await readEvents(tx, tenant, session, range)
  const event = last && eventOf(last)
  return event?.type === 'session.error' && event.error.message.startsWith(givenUpMessage)
}
