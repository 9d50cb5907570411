/**
 * The order of work that holds the event loop for tens of milliseconds: large pages, bodies and writes. The tenants that
 * wait are served in turn. Between two pieces the loop serves everything else, for as long as the last piece took.
 */
export type Loop = { wait: (tenant: string, piece?: PieceOfWork) => Promise<void> }

/** A piece of reading is over in its round of the loop; a piece that is written is committed two rounds later. */
export type PieceOfWork = 'read' | 'write'

/** `nextRound` calls back in the next round of the event loop, `after` when a time in milliseconds is over. */
export type LoopTime = {
  nextRound: (call: () => void) => void
  after: (ms: number, call: () => void) => void
  now: () => number
}

const loopTime: LoopTime = {
  nextRound: setImmediate,
  after: (ms, call) => void setTimeout(call, ms),
  now: () => performance.now(),
}

const roundsOf: Record<PieceOfWork, number> = { read: 1, write: 3 }
type Waiting = { begin: () => void; piece: PieceOfWork }

/** A piece that took less needs no break behind it, and no break is longer than the second. In milliseconds. */
const [shortPiece, longestBreak] = [20, 1_000]

export function createLoop({ nextRound, after, now }: LoopTime = loopTime): Loop {
  /** In the order in which the tenants are served; none is empty. */
  const queues = new Map<string, Waiting[]>()
  let isServing = false

  function serveNext(): void {
    const [first] = queues
    if (!first) {
      isServing = false
      return
    }
    const [tenant, [next, ...others]] = first
    queues.delete(tenant)
    if (others.length > 0) queues.set(tenant, others)
    const began = now()
    next?.begin()
    endPiece(began, roundsOf[next?.piece ?? 'read'])
  }

  function endPiece(began: number, rounds: number): void {
    if (rounds > 0) return nextRound(() => endPiece(began, rounds - 1))
    const took = now() - began
    if (took < shortPiece) serveNext()
    else after(Math.min(took, longestBreak), serveNext)
  }

  return {
    /** Resolves when the caller may begin. What it does before it awaits anything else is one piece. */
    wait(tenant, piece = 'read') {
      const { promise, resolve } = Promise.withResolvers<void>()
      const queue = queues.get(tenant)
      const waiting = { begin: resolve, piece }
      if (queue) queue.push(waiting)
      else queues.set(tenant, [waiting])
      if (!isServing) {
        isServing = true
        nextRound(serveNext)
      }
      return promise
    },
  }
}

/** The process has one loop. */
export const eventLoop = createLoop()

/** Bytes from which work waits for its place. */
export const heavyBytes = 256 * 1024
