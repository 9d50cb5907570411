/** The threads of one session that run in this process, side by side under the session's lease. */
import { threadIdOf } from '../../../sessions/log/threads/team.ts'

import type { Step } from '../steps.ts'

export type LoopEnd = 'rested' | 'lost' | 'left'

type ThreadLoop = { again: boolean }

export type Crew = {
  /** Runs a thread until it goes idle. A thread that runs already is run once more. Undefined: the primary thread. */
  start: (thread: string | undefined) => void
  /**
   * Keeps a thread from starting until the returned function is called. `step`: the thread's first step, if the caller
   * has recorded it. Undefined when the thread runs already, or when no thread starts any more.
   */
  park: (thread: string) => ((step?: Step) => void) | undefined
  /** Resolves when a thread has gone idle, or `notice` was called. */
  changed: () => Promise<void>
  notice: () => void
  /** True when at most one thread runs. */
  isAlone: () => boolean
  /** Aborts when every thread must leave its turn at once: the lease is lost, or the loop of a thread has failed. */
  ending: AbortSignal
  /** Call when another process has the lease. */
  lose: () => void
}

/** `isFirst`: the thread's first loop under this lease. `step`: its first step, if it is recorded already. */
type RunThread = (
  crew: Crew,
  thread: string | undefined,
  isFirst: boolean,
  step: Step | undefined,
) => Promise<LoopEnd>

/**
 * Runs the due threads, and threads that are started meanwhile, until none runs. Returns `lost` when a loop has lost
 * the lease, `left` when a stopping server left a turn. Throws the first error after all loops have ended. A failed
 * loop ends the others: no process runs its thread until the session is claimed again, so a parent that waits for the
 * thread would wait in vain.
 */
export async function runCrew(
  session: string,
  due: readonly (string | undefined)[],
  run: RunThread,
): Promise<LoopEnd> {
  const loops = new Map<string, ThreadLoop>()
  const ends = new Set<LoopEnd>()
  const errors: unknown[] = []
  const ending = new AbortController()
  let isOver = false
  let change = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()

  const crew: Crew = {
    start: (thread) => start(thread, false),
    park(thread) {
      if (loops.has(thread) || isOver || ending.signal.aborted) return undefined
      const { promise, resolve } = Promise.withResolvers<Step | undefined>()
      void loop(thread, thread, false, promise)
      return resolve
    },
    changed: () => change.promise,
    isAlone: () => loops.size < 2,
    ending: ending.signal,
    lose() {
      ends.add('lost')
      ending.abort()
    },
    notice() {
      change.resolve()
      change = Promise.withResolvers()
    },
  }

  function start(thread: string | undefined, isFirst: boolean): void {
    const id = threadIdOf({ session, thread })
    const known = loops.get(id)
    if (known) known.again = true
    else if (!isOver && !ending.signal.aborted) void loop(id, thread, isFirst)
  }

  async function loop(
    id: string,
    thread: string | undefined,
    isFirst: boolean,
    parked?: Promise<Step | undefined>,
  ): Promise<void> {
    const own: ThreadLoop = { again: false }
    loops.set(id, own)
    try {
      let step = parked && (await parked)
      for (let first = isFirst; !ending.signal.aborted; first = false) {
        // A recorded step may be older than a later `start`, which then still needs a run.
        if (!step) own.again = false
        const end = await run(crew, thread, first, step)
        step = undefined
        if (end === 'lost') crew.lose()
        else ends.add(end)
        if (!own.again || ending.signal.aborted || ends.has('left')) break
      }
    } catch (error) {
      errors.push(error)
      ending.abort()
    }
    loops.delete(id)
    crew.notice()
    if (loops.size > 0) return
    isOver = true
    over.resolve()
  }

  for (const thread of due) start(thread, true)
  await over.promise
  if (errors.length > 0) throw errors[0]
  return ends.has('lost') ? 'lost' : ends.has('left') ? 'left' : 'rested'
}
