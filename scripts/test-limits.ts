/**
 * Stands for `node:test` in the files that scripts/test-files.ts runs. Node limits no test of files that share its
 * process, and no hook of any file.
 */
import * as node from 'node:test'
import type { TestFn, TestOptions } from 'node:test'

export { describe, mock } from 'node:test'

/** Most seconds of a test, and of a hook. A test or a hook may have a limit of its own. */
export const limitVariable = 'STEWARD_TEST_SECONDS'
const limit = { timeout: Number(process.env[limitVariable] ?? 180) * 1000 }

function limited(name: string, ...rest: [TestOptions, TestFn] | [TestFn]): Promise<void> {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest
  return node.it(name, { ...limit, ...options }, run)
}
export const it = Object.assign(limited, node.it)

const limitedHook =
  (hook: typeof node.before): typeof node.before =>
  (run, options) =>
    hook(run, { ...limit, ...options })
export const before = limitedHook(node.before)
export const after = limitedHook(node.after)
export const beforeEach = limitedHook(node.beforeEach)
export const afterEach = limitedHook(node.afterEach)
