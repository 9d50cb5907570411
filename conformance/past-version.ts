/**
 * An earlier version of the server, from the history of this repository. Its packages are those of today: what a
 * version of the past stored and said is compared, not the libraries that it had.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const execute = promisify(execFile)

const git = (...words: string[]): string =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** Why no earlier version can be had here; false where one can. */
export function lacksHistory(commits: readonly string[]): string | false {
  try {
    for (const commit of commits) git('cat-file', '-e', `${commit}^{commit}`)
    return false
  } catch {
    return 'this checkout has no history: git fetch --unshallow, or clone the repository whole'
  }
}

export type PastVersion = AsyncDisposable & {
  /** The command line of its server. */
  main: string
}

/** Links what `from` holds into `to`, but for the packages of this repository, which are those of the version. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from))
    if (name !== '@steward') await symlink(join(from, name), join(to, name))
}

export async function pastVersion(commit: string): Promise<PastVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-past-'))
  const dispose = () => rm(folder, { recursive: true, force: true })
  try {
    const archive = join(folder, 'sources.tar')
    const parts = ['package.json', 'packages']
    await execute('git', ['archive', '--output', archive, commit, ...parts], { cwd: root })
    await execute('tar', ['-xf', archive, '-C', folder])
    await linkPackages(join(root, 'node_modules'), join(folder, 'node_modules'))
    await mkdir(join(folder, 'node_modules/@steward'))
    for (const name of await readdir(join(folder, 'packages'))) {
      await symlink(`../../packages/${name}`, join(folder, 'node_modules/@steward', name))
      const own = join(root, 'packages', name, 'node_modules')
      if (existsSync(own)) await linkPackages(own, join(folder, 'packages', name, 'node_modules'))
    }
    return {
      main: join(folder, 'packages/server/src/main.ts'),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}
