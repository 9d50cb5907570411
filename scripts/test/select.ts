/** Chooses the test files that a change can break. */
import { execFileSync } from 'node:child_process'
import type { Graph } from '../house/graph.ts'
import { dependentsOf } from '../house/graph.ts'
import { root } from '../house/sources.ts'

/** Any test can depend on these. */
const ofAll = new Set(['package.json', 'package-lock.json'])

const git = (...words: string[]): string =>
  execFileSync('git', words, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

function commitOf(name: string): string | undefined {
  try {
    return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)
  } catch {
    return undefined
  }
}

/** Where the work began: the main branch, or on the main branch itself without a remote, the commit before. */
function baseCommit(): string {
  const main = commitOf('origin/main') ?? commitOf('main')
  const head = commitOf('HEAD')
  if (head === undefined)
    throw new Error('npm test compares with Git, and this is no checkout: run ./test')
  const base = main === undefined ? head : git('merge-base', 'HEAD', main)
  return base === head && commitOf('origin/main') === undefined
    ? (commitOf('HEAD~1') ?? head)
    : base
}

/** Files that differ from the commit, committed or not. */
export function changedSince(commit: string | undefined): { base: string; changed: string[] } {
  const base = commit === undefined ? baseCommit() : commitOf(commit)
  if (base === undefined) throw new Error(`--since: Git knows no commit ${commit}`)
  const lines = [
    git('diff', '--name-only', base),
    git('ls-files', '--others', '--exclude-standard'),
  ]
  return { base, changed: lines.join('\n').split('\n').filter(Boolean) }
}

/** The tests among the files that need one of the changed files, directly or not. */
export function testsOf(
  changed: readonly string[],
  tests: readonly string[],
  graph: Graph,
): string[] {
  if (changed.some((file) => ofAll.has(file))) return [...tests]
  const dependents = dependentsOf(graph, changed)
  return tests.filter((file) => dependents.has(file))
}
