/** Programs that tests run in processes of their own. */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '../../..')

/** Set by scripts/test.ts: the folder of programs that it made one file each, because to load a thousand takes most of a start. */
const bundled = process.env['STEWARD_TEST_PROGRAMS']

/**
 * For Node, before the path of a program that lives for seconds. Its heap begins with a young generation of its full size: to
 * grow it, collection by collection, takes a sixth of the start of a server.
 */
export const flagsOfNode: readonly string[] = ['--min-semi-space-size=16']

/** The path to run for a program's source: of its one file where there is one. */
export function programOf(source: string | URL): string {
  const path = fileURLToPath(source)
  if (!bundled) return path
  const file = join(bundled, relative(root, path).replace(/\.ts$/, '.mjs'))
  return existsSync(file) ? file : path
}
