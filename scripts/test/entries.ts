/**
 * The modules that Node's runner starts, each in a process of its own. A slow file is an entry by itself. Quick files
 * share an entry, because loading a server takes as long as the tests of a quick file.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../house/sources.ts'

/** `isShared`: each file is a suite with the name of the file. */
export type Entry = { module: string; files: string[]; isShared: boolean }

/** Largest number of files that share an entry. */
const mostFiles = 16

/** Compares times, and therefore runs by itself after all others. */
export const isAlone = (file: string): boolean => file.endsWith('.alone.test.ts')

/** Starts programs or containers, or takes more than three seconds by itself. */
export const isSlow = (file: string): boolean => file.endsWith('.slow.test.ts') || isAlone(file)

/** The place of a file: a package, a wing of the server, or a folder. */
export const suiteOf = (file: string): string =>
  /^packages\/server\/src\/\w+|^packages\/[\w-]+|^conformance\/\w+(?=\/)|^conformance/.exec(
    file,
  )?.[0] ?? dirname(file)

/** Files are absolute, or of the checkout. The slow ones come first, because a long file that starts last leaves processors idle. */
export function entriesOf(files: readonly string[]): Entry[] {
  const slow = files.filter(isSlow).map((file) => ({
    ...{ module: resolve(root, file), files: [file] },
    isShared: false,
  }))
  const quick = files.filter((file) => !isSlow(file)).toSorted()
  const hosts = [...Map.groupBy(quick, suiteOf).values()]
  return [...slow, ...hosts.flatMap((some) => chunksOf(some, mostFiles)).map(sharedEntry)]
}

const sharedEntry = (files: string[]): Entry => ({
  files,
  isShared: true,
  module: writeModule([
    `import { describe } from 'node:test'`,
    ...files.map((file) => `void describe(${JSON.stringify(file)}, () => import(${urlOf(file)}))`),
  ]),
})

/** Entries that run the file as often as given. */
export const repeatedEntries = (file: string, times: number): Entry[] =>
  Array.from({ length: times }, () => ({
    files: [file],
    isShared: false,
    module: writeModule([`import ${urlOf(file)}`]),
  }))

const urlOf = (file: string): string => JSON.stringify(pathToFileURL(resolve(root, file)).href)

const folder = join(root, 'node_modules/.cache/steward/entries', String(process.pid))
let written = 0

function writeModule(lines: string[]): string {
  if (written === 0) process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { recursive: true })
  const module = join(folder, `${written++}.mjs`)
  writeFileSync(module, lines.join('\n'))
  return module
}

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
