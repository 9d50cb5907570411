/** Programs that build `dist/` and pack it: one after the other, as each replaces what another one may just be packing. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Runs npm in this checkout with these words. */
export const runPacking = (
  words: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)('flock', [join(root, 'package.json'), 'npm', ...words], {
    cwd: root,
    env,
    maxBuffer: 64 << 20,
  })
