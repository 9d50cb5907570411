/** Which version of the service runs. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isBuilt } from '@steward/base/own-command.ts'
import { z } from 'zod'

const root = join(import.meta.dirname, '../../../..')

export type Version = {
  version: string
  /** The commit of a checkout, shortened, and its date. Undefined where the sources have no history. */
  commit?: string | undefined
  date?: string | undefined
}

/** A build says its commit here. */
const Manifest = z.object({
  version: z.string(),
  commit: z.string().optional(),
  date: z.string().optional(),
})

export function readVersion(): Version {
  // The version stands in the package.json of the root alone. A build has its own beside the server.
  const manifest = isBuilt
    ? new URL('../../package.json', import.meta.url)
    : join(root, 'package.json')
  const built = Manifest.parse(JSON.parse(readFileSync(manifest, 'utf8')))
  const { version } = built
  // An installation, or an archive of the sources, may lie in a repository of somebody else.
  if (isBuilt || !existsSync(join(root, '.git'))) return built
  try {
    const [commit, date] = execFileSync('git', ['log', '-1', '--format=%h %cs'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .trim()
      .split(' ')
    return { version, ...(commit && { commit }), ...(date && { date }) }
  } catch {
    // An installation has no Git, or no history.
    return { version }
  }
}

/** One line, such as `steward 0.1.0 (commit 01b67137 of 2026-11-26)`. */
export const versionLine = ({ version, commit, date }: Version): string =>
  commit ? `steward ${version} (commit ${commit} of ${date})` : `steward ${version}`
