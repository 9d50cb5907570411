/**
 * Mounts repositories into a session's working folder. Each is cloned once, before the first command, from objects that
 * the service has fetched. Later the sandbox speaks to the repository's server itself. A failed clone does not stop the
 * session and is tried again. [resources/repository/cloned]
 */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { MountedKind } from '@steward/space/mounted-kinds.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Clock } from '@steward/base/time.ts'
import type { MountKind, MountTarget } from '../runner/sandboxes/mount-kind.ts'
import { cloneError } from '../../sessions/resources/clone-error.ts'
import type { RepositoryRow } from '../../sessions/resources/repositories.ts'
import type { Clone } from './clone.ts'
import { cloneInto, isCloned } from './clone.ts'
import { RepositoryFailure } from './failure.ts'
import type { Mirrors } from './mirror.ts'
import { writeSkeleton } from './skeleton.ts'

const mountPath = '/opt/repositories'
/** Delay before a failed clone is tried again, unless the token has changed. */
const againMs = 60_000

export type RepositoryRows = {
  rows: (tenant: string, session: string) => Promise<RepositoryRow[]>
  /** Records that the repository is in the working folder, and in every later checkpoint of it. */
  cloned: (row: RepositoryRow) => Promise<void>
  open: (row: RepositoryRow) => string | undefined
}

/** `isHost`: true when commands see the host's own paths. */
export type RepositoryDeps = RepositoryRows & { mirrors: Mirrors; isHost: boolean; clock: Clock }

export function mountRepositories(deps: RepositoryDeps): MountKind {
  return async (target) => {
    const rows = await deps.rows(target.tenant, target.session)
    const left = rows.filter(({ mounted_at }) => !target.isKnown || mounted_at === null)
    if (left.length === 0) return {}
    const fetched = join(target.start, 'repositories')
    await mkdir(fetched, { recursive: true })
    await chmod(fetched, 0o755)
    return clonesOf(deps, target, left, fetched)
  }
}

type PreparedClone = Pick<Clone, 'commit' | 'isNamed'> & { at: string }
type CloneResult = { ok: true; prepared: PreparedClone } | { ok: false; failure: RepositoryFailure }

/** `fetched`: the folder of the prepared objects, from which the sandbox copies. */
function clonesOf(
  deps: RepositoryDeps,
  target: MountTarget,
  rows: readonly RepositoryRow[],
  fetched: string,
): MountedKind {
  const { clock, isHost } = deps
  const ending = new AbortController()
  const failed = new Map<string, { at: number; token: string | null }>()
  const said: string[] = []
  const prepare = (row: RepositoryRow) =>
    prepareClone(deps, target, row, { fetched, signal: ending.signal })
  /** Clones are prepared while the sandbox starts. */
  const ahead = new Map(rows.map((row) => [row.id, prepare(row)]))
  for (const each of ahead.values()) each.catch(() => {})
  const pathOf = (row: RepositoryRow) =>
    isHost ? join(target.folder, row.resolved_path) : row.resolved_path
  let trying = Promise.resolve()

  async function cloneOne(sandbox: Sandbox, row: RepositoryRow): Promise<void> {
    const tried = await (ahead.get(row.id) ?? prepare(row))
    ahead.delete(row.id)
    try {
      if (tried.ok) await copyInto(sandbox, row, tried.prepared)
      // An earlier start cloned the repository and did not record it.
      else if (!(await isCloned(sandbox, pathOf(row)))) throw tried.failure
      await deps.cloned(row)
      failed.delete(row.id)
    } catch (error) {
      if (!(error instanceof RepositoryFailure)) throw error
      failed.set(row.id, { at: clock.now(), token: row.sealed_token })
      await reportFailure(row, error)
    } finally {
      if (tried.ok) await rm(tried.prepared.at, { recursive: true, force: true })
    }
  }

  async function copyInto(
    sandbox: Sandbox,
    row: RepositoryRow,
    { at, ...commit }: PreparedClone,
  ): Promise<void> {
    const from = isHost ? at : `${mountPath}/${basename(at)}`
    const clone: Clone = { from, to: pathOf(row), ...commit }
    if ((await cloneInto(sandbox, clone)) === 'there') return
    await deps.mirrors.discard(target.tenant, { url: row.fields.url, token: deps.open(row) })
    throw new RepositoryFailure('clone', 'what was fetched of it was not whole; it is fetched anew')
  }

  async function reportFailure(row: RepositoryRow, failure: RepositoryFailure) {
    const error = cloneError(row, failure)
    said.push(error.message)
    await target.keep([{ id: newId('event'), type: 'session.error', error }])
  }

  const isDue = ({ id, sealed_token }: RepositoryRow): boolean => {
    const last = failed.get(id)
    return !!last && (last.token !== sealed_token || clock.now() - last.at >= againMs)
  }

  return {
    mounts: [{ source: fetched, path: mountPath, access: 'read' }],
    async started(sandbox) {
      for (const row of rows) await cloneOne(sandbox, row)
    },
    async before(sandbox) {
      const again = async () => {
        if (failed.size === 0) return
        const now = await deps.rows(target.tenant, target.session)
        for (const row of now.filter(isDue)) await cloneOne(sandbox, row)
      }
      // Calls may run at the same time.
      trying = trying.then(again, again)
      await trying
    },
    changed: async () => said.splice(0),
    async ended() {
      ending.abort()
      await Promise.allSettled(ahead.values())
      await rm(fetched, { recursive: true, force: true })
    },
  }
}

/**
 * Prepares everything that the sandbox needs for a clone, in a folder of its own. A failure of the server is a value;
 * rejects only for a bug.
 */
async function prepareClone(
  { mirrors, open }: RepositoryDeps,
  { tenant }: MountTarget,
  row: RepositoryRow,
  { fetched, signal }: { fetched: string; signal: AbortSignal },
): Promise<CloneResult> {
  const { url, checkout } = row.fields
  const more = checkout?.type === 'commit' ? [checkout.sha] : []
  const at = join(fetched, randomUUID())
  try {
    const how = { to: join(at, 'objects', 'pack'), more, signal }
    const looked = await mirrors.fetchInto(tenant, { url, token: open(row) }, how)
    const commit = await writeSkeleton(at, looked, { url, checkout })
    return { ok: true, prepared: { at, commit, isNamed: checkout?.type === 'commit' } }
  } catch (error) {
    await rm(at, { recursive: true, force: true })
    if (error instanceof RepositoryFailure) return { ok: false, failure: error }
    throw error
  }
}
