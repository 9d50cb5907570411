/** Decides how many test processes run at a time. Some tests compute and others wait, so the processors stay busy. */
import { cpus } from 'node:os'

export type Pace = {
  /** Resolves when the next process may start. `running`: those that run now. */
  next: (running: () => number) => Promise<void>
}

/** Number of processes that run on any machine. */
const least = 4
const everyMs = 1_000
/** Share of all processors that must be idle in each look before one more process starts. */
const idleShare = 0.08
/**
 * Consecutive looks that must find the machine idle. One idle look may be chance, and a process too many slows down all
 * others.
 */
const idleLooks = 3

type Times = { idle: number; all: number }

function timesNow(): Times {
  const times = cpus().map((cpu) => cpu.times)
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, each) => sum + Object.values(each).reduce((a, b) => a + b, 0), 0),
  }
}

export function startPace(): Pace & Disposable {
  const waiting: { running: () => number; begin: () => void }[] = []
  let last = timesNow()
  let idle = 0
  /** Each look that finds the machine idle lets one waiting process start. */
  const look = setInterval(() => {
    const now = timesNow()
    idle = now.idle - last.idle > idleShare * (now.all - last.all) ? idle + 1 : 0
    last = now
    const [first] = waiting
    if (!first || (idle < idleLooks && first.running() >= least)) return
    idle = 0
    waiting.shift()?.begin()
  }, everyMs)
  return {
    async next(running) {
      if (running() < least) return
      await new Promise<void>((begin) => waiting.push({ running, begin }))
    },
    [Symbol.dispose]: () => clearInterval(look),
  }
}
