/**
 * The order in which a process goes on with turns that a dead process left. One of them may be what ended it. Those that
 * have died twice come last and one at a time, the smallest session first, so that the guilty one dies alone. The
 * workspaces take turns: the turns of one, each silent for a minute, would hold up those of the others for hours.
 */
import type { Clock } from '@steward/base/time.ts'
import type { RecoveredTurn } from './deaths.ts'

/** Turns that are recovered together are known this long after the last of them. */
const settleMs = 1_000
/** A turn that has kept nothing for so long holds up no other: it may wait for its provider. */
const patienceMs = 60_000

export type RecoveryLane = {
  /**
   * Resolves when the turn may go on, also when the signal aborts. The returned function says that it has kept
   * something or is over.
   */
  enter(turn: RecoveredTurn & { tenant: string }, signal: AbortSignal): Promise<() => void>
}

export function recoveryLane(clock: Clock): RecoveryLane {
  /** Turns that have kept nothing yet. */
  let working = 0
  let settling: AbortController | undefined
  const suspects: { tenant: string; size: number; go: () => void }[] = []
  /** Number of suspects that went on before the last one of the tenant, and that one. */
  const served = new Map<string, number>()
  let count = 0

  function goOn(): void {
    if (working > 0 || settling) return
    const last = ({ tenant }: { tenant: string }) => served.get(tenant) ?? 0
    suspects.sort((one, other) => last(one) - last(other) || one.size - other.size)
    const next = suspects.shift()
    if (!next) return served.clear()
    served.set(next.tenant, ++count)
    next.go()
  }

  function settle(): void {
    settling?.abort()
    const mine = new AbortController()
    settling = mine
    void clock.sleep(settleMs, mine.signal).then(() => {
      if (mine.signal.aborted) return
      settling = undefined
      goOn()
    })
  }

  function begin(): () => void {
    working++
    const left = new AbortController()
    const leave = () => {
      if (left.signal.aborted) return
      left.abort()
      working--
      goOn()
    }
    void clock.sleep(patienceMs, left.signal).then(leave)
    return leave
  }

  async function wait(
    { tenant, size }: { tenant: string; size: number },
    signal: AbortSignal,
  ): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<() => void>()
    const suspect = { tenant, size, go: () => resolve(begin()) }
    suspects.push(suspect)
    const giveWay = () => {
      const at = suspects.indexOf(suspect)
      if (at !== -1) suspects.splice(at, 1)
      resolve(() => {})
    }
    if (signal.aborted) giveWay()
    signal.addEventListener('abort', giveWay, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveWay)
    }
  }

  return {
    enter(turn, signal) {
      settle()
      return turn.isSuspect ? wait(turn, signal) : Promise.resolve(begin())
    },
  }
}
