/** The commit that a release is made of. */
import { execFileSync } from 'node:child_process'
import { root } from '../house/sources.ts'

const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()

/** Seconds since the epoch: the one time that stands in what a release holds. */
export const commitTime = (): number => Number(git('log', '-1', '--format=%ct'))

/** Why this checkout is not the version as others can get it. */
export function problemsOfCommit(version: string): string[] {
  const changed = git('status', '--porcelain')
  const tags = git('tag', '--points-at', 'HEAD').split('\n')
  const isOnMain = git('branch', '--remotes', '--contains', 'HEAD').includes('origin/main')
  return [
    ...(isOnMain ? [] : ['the main branch of origin does not have this commit']),
    ...(changed === '' ? [] : ['the checkout has changes that no commit has']),
    ...(tags.includes(`v${version}`) ? [] : [`this commit does not bear the tag v${version}`]),
  ]
}

export const commitOf = (): string => git('rev-parse', 'HEAD')
