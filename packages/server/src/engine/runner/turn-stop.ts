import { waitTool } from '@steward/harness/tools/threads.ts'
import type { OpenCall, Turn } from '@steward/harness/turn.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { followCalls } from '../../sessions/log/calls.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import type { Crew } from './threads/crew.ts'
import type { TurnSignals, ThreadDeps } from './turn-deps.ts'

/**
 * True for a call that only waits for another thread. A stopping server need not wait for it: the other thread leaves
 * its turn too, and the next process repeats the call.
 */
const waitsForThread = (event: NewEvent): boolean =>
  event.type === 'agent.advisor_tool_use' ||
  (event.type === 'agent.tool_use' && event.name === waitTool)

/**
 * The signal by which a stopping server leaves a turn. It aborts at once when no tool call runs, else after the last
 * result, and always at `cut` and `ending`.
 */
export function turnStop(
  { stopping, cut }: TurnSignals,
  { ending }: Crew,
  open: readonly OpenCall[],
) {
  const leaving = new AbortController()
  const running = new Set(
    open.flatMap(({ event_id, decision }) => (decision === 'run' ? [event_id] : [])),
  )
  const leave = () => leaving.abort('the server stops')
  const look = () => {
    if (ending.aborted || (stopping.aborted && running.size === 0)) leave()
  }
  stopping.addEventListener('abort', look)
  cut.addEventListener('abort', leave)
  ending.addEventListener('abort', leave)
  look()
  return {
    signal: leaving.signal,
    follow(kept: readonly LogEntry[]): void {
      const events = kept.map(({ event }) => event)
      followCalls(
        running,
        events.filter((event) => !waitsForThread(event)),
      )
      look()
    },
    end(): void {
      stopping.removeEventListener('abort', look)
      cut.removeEventListener('abort', leave)
      ending.removeEventListener('abort', leave)
    },
  }
}

/** The wait before a repeated model request. The session gives its slot away if no other of its threads runs. */
export const createTurnSleep =
  ({ crew, clock }: ThreadDeps, { slot }: TurnSignals): Turn['sleep'] =>
  (ms, signal) =>
    crew.isAlone() ? slot.pause(ms, signal) : clock.sleep(ms, signal)
