/**
 * Chooses the files of `npm test`: all, where the machine runs all within the time of a run. Elsewhere the files that
 * compute longest take turns from commit to commit.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { Costs } from './test-costs.ts'

/** A file that computes longer, on the machine of the table, may have to wait for its turn. */
export const lightSeconds = 3
/** Heavy files that run every time: the walls between tenants, and the ways of secrets. */
const always = new Set(['conformance/isolation.test.ts', 'conformance/canary.test.ts'])
/** The seconds of a run: up to its last line. */
const runSeconds = 360
/** The seconds in which the last processes end, a file that failed runs again, and Postgres stops. */
const endSeconds = 60
/** Share of the processors that the tests keep busy. The first and the last files leave some idle. */
const busyShare = 0.95
/** What the processors compute for each second of the files' own: the rest is Postgres, engines of containers, kernel. */
const wholeOfOwn = 1.22

export type Machine = { processors: number; paceMs: number; elapsedSeconds: number }

/** Processor seconds, on the machine of the table, that the files of a run may take on this machine. */
export function roomOn({ processors, paceMs, elapsedSeconds }: Machine, costs: Costs): number {
  const busy = secondsLeft(elapsedSeconds) * processors * busyShare
  return (busy * (costs.paceMs / paceMs)) / wholeOfOwn
}

export const secondsLeft = (elapsedSeconds: number): number =>
  runSeconds - endSeconds - elapsedSeconds

export type Draw = {
  files: string[]
  /** The heavy files among them. Empty when all files run. */
  drawn: string[]
  /** The heavy files that are left to other commits, in the order of their turns. */
  left: string[]
  seed: string
}

/**
 * All files, if they fit into the room. Otherwise every light file runs, and of the heavy ones, those of `changed` first
 * and then in an order that the seed gives, each that still fits. The result keeps the order of `files`.
 */
export function drawFiles(
  files: readonly string[],
  {
    costs,
    room,
    seed,
    changed,
  }: { costs: Costs; room: number; seed: string; changed: Set<string> },
): Draw {
  const computed = (file: string): number => costs.of(file).computed
  const isHeavy = (file: string): boolean => computed(file) > lightSeconds
  const isDrawn = (file: string): boolean => isHeavy(file) && !always.has(file)
  const sum = (some: readonly string[]): number =>
    some.reduce((all, file) => all + computed(file), 0)
  if (sum(files) <= room) return { files: [...files], drawn: [], left: [], seed }
  let free = room - sum(files.filter((file) => !isDrawn(file)))
  const hashOf = (file: string): string =>
    createHash('sha256')
      .update(seed + file)
      .digest('hex')
  const turns = files
    .filter(isDrawn)
    .map((file) => ({ file, turn: (changed.has(file) ? '0' : '1') + hashOf(file) }))
    .toSorted((a, b) => (a.turn < b.turn ? -1 : 1))
  const left = new Set<string>()
  for (const { file } of turns) {
    if (computed(file) > free) left.add(file)
    else free -= computed(file)
  }
  const runs = files.filter((file) => !left.has(file))
  return { files: runs, drawn: runs.filter(isHeavy), left: [...left], seed }
}

/** Draws one more file near the end of a run, where files took less time than was expected. */
export function drawAnother(
  { drawn, left }: Draw,
  { costs, room, elapsedSeconds }: { costs: Costs; room: number; elapsedSeconds: number },
): string | undefined {
  const at = left.findIndex((file) => {
    const { computed, seconds } = costs.of(file)
    return computed <= room && seconds <= secondsLeft(elapsedSeconds)
  })
  const [file] = at === -1 ? [] : left.splice(at, 1)
  if (file !== undefined) drawn.push(file)
  return file
}

/**
 * The commit of the checkout, which gives the draw its order, and the files that were changed in it or since.
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
