/**
 * Bundles each program that tests start again and again, because loading a thousand files takes most of a start. The
 * build bundles them in the same way. `npm run test:long`, and a run of chosen files, start the programs unbundled.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundledName } from '@steward/base/program-fixture.ts'
import { bundle } from '../build/bundle.ts'
import { isBundled, programs } from '../build/programs.ts'
import { root } from '../house/sources.ts'

const ofTests = [
  'packages/server/src/engine/runner/crash-fixture.ts',
  'conformance/canaries/program.ts',
  'conformance/official-worker.ts',
]

/**
 * Returns the files that the programs share. They do nothing when they are loaded. Files that a source reads beside
 * itself are those of the checkout.
 */
export async function bundlePrograms(folder: string): Promise<string[]> {
  const paths = [...Object.values(programs), ...ofTests]
  await rm(folder, { recursive: true, force: true })
  const { outputs } = await bundle({
    folder,
    entries: Object.fromEntries(paths.map((path) => [bundledName(path), path])),
    isBundled,
    byPath: true,
    urlOf: (path) => JSON.stringify(pathToFileURL(path).href),
  })
  const entries = Object.values(outputs).filter(
    ({ entryPoint }) => entryPoint && paths.includes(entryPoint),
  )
  const shared = entries.flatMap(({ imports }) => imports.filter(({ external }) => !external))
  return [...new Set(shared.map(({ path }) => join(root, path)))]
}
