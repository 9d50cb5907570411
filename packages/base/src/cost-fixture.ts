import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** For tests: milliseconds of processor that this process has used, whatever else runs on the machine. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** For tests: collects garbage, so that unused memory does not count as growth. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  assert.ok(typeof gc === 'function')
  gc()
}
