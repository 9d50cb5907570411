/** For tests: programs that run in their own processes. */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '../../..')

/** Set by scripts/test.ts: the folder of bundled programs. Loading a thousand files takes most of a start. */
const bundled = process.env['STEWARD_TEST_PROGRAMS']

/**
 * Flags of Node for a program that runs for seconds. The heap begins with a young generation of full size: growing it,
 * collection by collection, takes a sixth of the start of a server.
 */
export const flagsOfNode: readonly string[] = ['--min-semi-space-size=16']

/** The name of the bundle of a source, whose path is from the root of the repository. */
export const bundledName = (path: string): string => path.replace(/\.ts$/, '').replaceAll('/', '--')

/** The path to run for the source of a program: its bundle, if there is one. */
export function programPath(source: string | URL): string {
  const path = fileURLToPath(source)
  if (!bundled) return path
  const file = join(bundled, `${bundledName(relative(root, path))}.mjs`)
  return existsSync(file) ? file : path
}
