/**
 * Writes a `.git` folder without objects and without a working tree, with the contents of a clone from the repository's
 * server.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkout } from '@steward/protocol/session-resources.ts'
import { RepositoryFailure } from './failure.ts'
import type { RemoteState } from './remote.ts'

/**
 * Writes the `.git` folder and returns the commit to check out; null for an empty repository. Throws
 * `RepositoryFailure` when the branch does not exist.
 */
export async function writeSkeleton(
  folder: string,
  { ids, main }: RemoteState,
  { url, checkout }: { url: string; checkout: Checkout | null },
): Promise<string | null> {
  const branch = branchOf(checkout, main)
  if (checkout?.type === 'branch' && (branch === undefined || !ids.has(branch)))
    throw new RepositoryFailure('checkout', `it has no branch ${checkout.name}`)
  const head = checkout?.type === 'commit' ? checkout.sha : `ref: ${branch ?? 'refs/heads/main'}`
  const files = {
    HEAD: `${head}\n`,
    config: configOf(url, branch),
    'packed-refs': packedRefs(ids, branch),
    ...(main && { 'refs/remotes/origin/HEAD': `ref: ${remoteName(main)}\n` }),
  }
  const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'refs/remotes/origin']
  for (const each of folders) await mkdir(join(folder, each), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  if (checkout?.type === 'commit') return checkout.sha
  return (branch === undefined ? undefined : ids.get(branch)) ?? null
}

function branchOf(checkout: Checkout | null, main: string | undefined): string | undefined {
  if (checkout?.type === 'commit') return undefined
  return checkout ? `refs/heads/${checkout.name}` : main
}

const remoteName = (branch: string): string => branch.replace('refs/heads/', 'refs/remotes/origin/')

/** Sorted, because git uses a binary search. Tags are not peeled; git does that itself. */
function packedRefs(ids: RemoteState['ids'], branch: string | undefined): string {
  const lines = [...ids].map(([name, id]) => [remoteName(name), id] as const)
  const id = branch === undefined ? undefined : ids.get(branch)
  if (branch !== undefined && id !== undefined) lines.push([branch, id])
  const sorted = lines.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return ['# pack-refs with: sorted ', ...sorted.map(([name, at]) => `${at} ${name}`), ''].join(
    '\n',
  )
}

/** The URL and the names contain no quotes, backslashes or line ends. */
function configOf(url: string, branch: string | undefined): string {
  const short = branch?.slice('refs/heads/'.length)
  const followed =
    short === undefined
      ? []
      : [
          `[branch "${escaped(short)}"]`,
          '\tremote = origin',
          `\tmerge = "${escaped(branch ?? '')}"`,
        ]
  return [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tfilemode = true',
    '\tbare = false',
    '\tlogallrefupdates = true',
    '[remote "origin"]',
    `\turl = "${url}"`,
    '\tfetch = +refs/heads/*:refs/remotes/origin/*',
    ...followed,
    '',
  ].join('\n')
}

const escaped = (text: string): string => text.replace(/["\\]/g, '\\$&')
