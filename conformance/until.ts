import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

const patienceMs = 50_000
/** The pause between two looks grows, because a look often asks a server. */
const pauseMs = { first: 20, last: 200, factor: 1.25 }

/**
 * Looks until it is so; rejects before a test's own time is over, so that what the test has started is ended. `seen`: what to
 * show then.
 */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  seen: () => unknown = () => '',
): Promise<void> {
  const end = performance.now() + patienceMs
  for (let pause = pauseMs.first; !(await isSo()); pause *= pauseMs.factor) {
    if (performance.now() > end)
      throw new Error(`it did not become so: ${isSo.toString()} ${inspect(await seen())}`)
    await delay(Math.min(pause, pauseMs.last))
  }
}
