import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

const patienceMs = 50_000
/** Pauses between two checks, in ms. They grow, because a check often sends a request. */
const pauseMs = { first: 20, last: 200, factor: 1.25 }

/**
 * Waits until `isSo` returns true. Rejects before the test's own timeout, so that the test can still stop what it
 * started. `seen`: returns the state for the error message.
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
