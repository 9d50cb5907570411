import { setTimeout as delay } from 'node:timers/promises'

const patienceMs = 50_000
const pauseMs = 25

/** Looks until it is so; rejects before a test's own time is over, so that what the test has started is ended. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it did not become so: ${isSo.toString()}`)
    await delay(pauseMs)
  }
}
