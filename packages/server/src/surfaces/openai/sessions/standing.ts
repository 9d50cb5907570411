/** The state of a thread's log when a stream begins, and calls from before the stream. */
import { openCalls } from '../../../sessions/log/calls.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { readAt } from '../../../sessions/log/log.ts'
import { outputsBetween } from '../turns/outputs.ts'
import { eventPositions } from '../turns/event-positions.ts'
import type { LoggedTurn, TokenCounts } from '../turns/turn.ts'
import { noTokens } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'
import { standingAt } from '../turns/turns.ts'
import type { IndexedCall } from './output.ts'

export type LogState = {
  open: LoggedTurn | undefined
  usage: TokenCounts | undefined
  /** The number of output items of the open turn. */
  outputs: number
}

export const newStanding: LogState = { open: undefined, usage: noTokens, outputs: 0 }

/** Reads the state of the log behind the event at `after`. */
export async function readStanding(log: SessionLog, after: number): Promise<LogState> {
  const { open, usage } = await standingAt(log, after)
  return { open, usage, outputs: open ? await outputsBetween(log, open.first, after) : 0 }
}

/** The calls of functions up to the event at `after` that wait for their results. */
export async function waitingFunctions(
  { read, tenant, session }: SessionLog,
  after: number,
): Promise<EventRow[]> {
  const seqs = (await openCalls(read, tenant, session)).flatMap(({ type, state, seq }) =>
    type === 'agent.custom_tool_use' && state === 'waiting' && seq <= after ? seq : [],
  )
  return seqs.length === 0 ? [] : readAt(read, tenant, session, seqs)
}

const positions = eventPositions()

/** A call of the turn that was open when the stream began; undefined for any other id. */
export async function earlierCall(
  log: SessionLog,
  { first }: LoggedTurn,
  id: string,
): Promise<IndexedCall | undefined> {
  const seq = await positions.find(log, id)
  if (seq === undefined || seq < first) return undefined
  const [row] = await readAt(log.read, log.tenant, log.session, [seq])
  return row && { row, index: await outputsBetween(log, first, seq - 1) }
}
