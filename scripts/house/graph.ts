/**
 * What a file needs when it runs: the files that it imports for a value, starts as a program or reads by a path. Imports
 * of types are left out, because they do nothing at run time.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { targetOf, typeImport } from './imports.ts'
import { root } from './sources.ts'

export type Graph = ReadonlyMap<string, ReadonlySet<string>>

const code = /\.(?:ts|mjs|cjs)$/
/** Paths of this file's folder, of our packages, and of the checkout. */
const path =
  /'(\.{1,2}\/[^'\n]+|@steward\/[\w-]+\/[^'\n]+|(?:docs|packages|scripts|conformance|bench)\/[^'\n]+)'/g
const besideFile = /import\.meta\.dirname,((?: *'[^'\n]+',?)+)/g
const wholeFolder = /= import\.meta\.dirname$/m

/** All files of the checkout, also new ones, without what Git ignores. */
export function filesOfCheckout(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
    .split('\n')
    .filter(Boolean)
}

export function readGraph(files: readonly string[]): Graph {
  const known = new Set(files)
  const inFolder = Map.groupBy(files, (file) => posix.dirname(file))
  /** The file, or the files of a folder, which a program reads as a whole. */
  function filesAt(target: string): readonly string[] {
    if (known.has(target)) return [target]
    if (target.split('/').length < 3 || target.startsWith('..')) return []
    return [...inFolder].flatMap(([folder, some]) =>
      folder === target || folder.startsWith(`${target}/`) ? some : [],
    )
  }
  return new Map(
    files
      .filter((file) => code.test(file))
      .map((file) => {
        const text = textOf(file)
        const needed = namesIn(text).flatMap((name) => filesAt(resolve(file, name)))
        if (wholeFolder.test(text)) needed.push(...(inFolder.get(posix.dirname(file)) ?? []))
        return [file, new Set(needed.filter((each) => each !== file))]
      }),
  )
}

const textOf = (file: string): string => {
  try {
    return readFileSync(root + file, 'utf8').replaceAll(typeImport, '')
  } catch (error) {
    // Git still lists a file that was deleted and not committed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

const namesIn = (text: string): string[] => [
  ...[...text.matchAll(path)].map(([, name = '']) => name),
  ...[...text.matchAll(besideFile)].map(
    ([, names = '']) => `./${[...names.matchAll(/'([^']+)'/g)].map(([, name]) => name).join('/')}`,
  ),
]

const resolve = (file: string, name: string): string =>
  posix.normalize(targetOf(file, name) ?? name).replace(/\/$/, '')

/** The given files, and every file that needs one of them, directly or not. */
export function dependentsOf(graph: Graph, files: Iterable<string>): Set<string> {
  const needing = new Map<string, string[]>()
  for (const [file, needed] of graph)
    for (const each of needed) {
      const known = needing.get(each)
      if (known) known.push(file)
      else needing.set(each, [file])
    }
  const found = new Set(files)
  for (const file of found) for (const each of needing.get(file) ?? []) found.add(each)
  return found
}
