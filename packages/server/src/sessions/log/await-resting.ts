/** Waits until a session has nothing to do. */
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { Head } from './head.ts'
import { isSessionOver, readHead } from './head.ts'
import { listenToSession } from './topics.ts'

/** Poll interval, because a notification may be lost. */
const lookMs = 1_000

type RestingDeps = { read: Reads; bus: Bus; clock: Clock; tenant: string; session: string }
type RestingLimit = {
  untilMs: number
  /** Its abort ends the wait without a head. */
  signal: AbortSignal
  /** Its abort ends the wait with the present head. */
  early?: AbortSignal
  /** True while an idle session goes on by itself, because another process has its work. */
  goesOn?: (head: Head) => Promise<boolean>
}

/** True when the session is idle or over. A session with work for its runner does not rest, whatever its status. */
export const isResting = (head: Head): boolean =>
  isSessionOver(head) || (head.status === 'idle' && head.due === 0)

export async function whenResting(
  { read, bus, clock, tenant, session }: RestingDeps,
  { untilMs, signal, early, goesOn = async () => false }: RestingLimit,
): Promise<Head | 'late' | undefined> {
  let woken = new AbortController()
  const wake = () => woken.abort()
  const unlisten = listenToSession(bus, session, wake)
  for (const each of [signal, early]) each?.addEventListener('abort', wake)
  try {
    for (;;) {
      woken = new AbortController()
      if (signal.aborted) return undefined
      const head = await readHead(read, tenant, session)
      if (early?.aborted || (isResting(head) && !(await goesOn(head)))) return head
      const leftMs = untilMs - clock.now()
      if (leftMs <= 0) return 'late'
      if (!woken.signal.aborted) await clock.sleep(Math.min(lookMs, leftMs), woken.signal)
    }
  } finally {
    unlisten()
    for (const each of [signal, early]) each?.removeEventListener('abort', wake)
  }
}
