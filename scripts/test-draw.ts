/**
 * Chooses the files of `npm test`: all, where the machine runs all within the time of a run. Elsewhere a few files, which
 * compute for as long as all others together, take turns from commit to commit.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { Costs } from './test-costs.ts'

/** A file that computes longer, on the machine of the table, may have to wait for its turn. */
export const lightSeconds = 5
/** The seconds of a run: up to its last line. */
const runSeconds = 360
/** The seconds in which the last processes end, a file that failed runs again, and Postgres stops. */
const endSeconds = 20
/** Share of the processors that the tests keep busy. The first and the last files leave some idle. */
const busyShare = 0.95
/** What the processors compute for each second of the files' own: the rest is Postgres, engines of containers, kernel. */
const wholeOfOwn = 1.22

export type Machine = { processors: number; paceMs: number; elapsedSeconds: number }

/** Processor seconds, on the machine of the table, that the files of a run may take on this machine. */
export function roomOn({ processors, paceMs, elapsedSeconds }: Machine, costs: Costs): number {
  const left = runSeconds - endSeconds - elapsedSeconds
  return (left * processors * busyShare * (costs.paceMs / paceMs)) / wholeOfOwn
}

export type Draw = {
  files: string[]
  /** The heavy files among them, and those that are left to other commits. Both are empty when all files run. */
  drawn: string[]
  left: string[]
  seed: string
}

/**
 * All files, if they fit into the room. Otherwise every light file runs, every file of `first`, and of the heavy ones, in
 * an order that the seed gives, each that still fits. The result keeps the order of `files`.
 */
export function drawFiles(
  files: readonly string[],
  { costs, room, seed, first }: { costs: Costs; room: number; seed: string; first: Set<string> },
): Draw {
  const computed = (file: string): number => costs.of(file).computed
  const isHeavy = (file: string): boolean => computed(file) > lightSeconds
  const sum = (some: readonly string[]): number =>
    some.reduce((all, file) => all + computed(file), 0)
  if (sum(files) <= room) return { files: [...files], drawn: [], left: [], seed }
  let free = room - sum(files.filter((file) => !isHeavy(file) || first.has(file)))
  const turnOf = (file: string): string =>
    createHash('sha256')
      .update(seed + file)
      .digest('hex')
  const turns = new Map(files.map((file) => [file, turnOf(file)]))
  const left = new Set<string>()
  for (const file of files.toSorted((a, b) =>
    (turns.get(a) ?? '') < (turns.get(b) ?? '') ? -1 : 1,
  )) {
    if (!isHeavy(file) || first.has(file)) continue
    if (computed(file) > free) left.add(file)
    else free -= computed(file)
  }
  const runs = files.filter((file) => !left.has(file))
  return { files: runs, drawn: runs.filter(isHeavy), left: [...left], seed }
}

/**
 * The commit of the checkout, for a draw that another run can repeat, and the files that were changed in it or since.
 * Without a history both are empty.
 */
export function readHistory(root: string): { commit: string; changed: Set<string> } {
  try {
    const git = (...words: string[]): string =>
      execFileSync('git', words, {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    const commit = git('rev-parse', '--short=12', 'HEAD').trim()
    return { commit, changed: new Set(git('diff', '--name-only', 'HEAD~1').split('\n')) }
  } catch {
    return { commit: '', changed: new Set() }
  }
}
