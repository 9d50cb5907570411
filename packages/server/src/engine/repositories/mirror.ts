/**
 * Keeps objects of repositories, so that later sessions fetch only new objects. A mirror belongs to one tenant, one
 * address and one token, because the token decides which objects a session may see. A mirror is used only after the
 * server has accepted the token again.
 */
import { createHmac, randomUUID } from 'node:crypto'
import {
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '@steward/base/log.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import { moveAway, removeUnused } from '@steward/sandbox/remove-tree.ts'
import type { Clock } from '@steward/base/time.ts'
import { createKeyQueue } from '../../ground/core/fairness/key-queue.ts'
import type { IndexSettings } from './indexing.ts'
import { indexPack } from './indexing.ts'
import type { RepositoryAddress, RemoteState, Pack, Remote } from './remote.ts'

const fetchMs = 15 * 60_000
const mostHaves = 256
/** A mirror with more packs is discarded and fetched again. */
const mostPacks = 40
const mostTips = 50_000
const hour = 60 * 60_000
/** A mirror unused for this time is removed. Beyond the newest mirrors of a tenant, the limit is an hour. */
const keptMs = 7 * 24 * hour
const mostMirrors = 50
/** Longer than a fetch and its indexing take. Another process may fetch into the same mirror. */
const leftMs = hour

export type MirrorDeps = {
  /** Folder of all mirrors; only the server opens it. */
  folder: string
  /** SECRET: never logged. Names of mirrors are derived with it, so that a name reveals nothing about its token. */
  key: Buffer
  /** Opens a connection of its own for each call. */
  connect: () => Remote
  indexing: IndexSettings
  /** The tenants' shares of this process's requests, fetches and indexings. */
  share: Share
  clock: Clock
  log: Log
}

type MirrorFetch = {
  tenant: string
  remote: Remote
  folder: string
  looked: RemoteState
  more: readonly string[]
  signal: AbortSignal
}

export type Mirrors = ReturnType<typeof createMirrors>

export function createMirrors({ folder, key, connect, indexing, share, clock, log }: MirrorDeps) {
  /**
   * One use of a mirror at a time in this process. Another process may fetch the same objects, which costs only time.
   */
  const alone = createKeyQueue()

  const folderOf = (tenant: string, { url, token }: RepositoryAddress): string => {
    const parts = JSON.stringify([tenant, url, token ?? null])
    return join(folder, tenant, createHmac('sha256', key).update(parts).digest('hex'))
  }

  /**
   * Runs `work` with a slot of the tenant's share. A call that waits for another use of the same mirror holds no
   * slot.
   */
  async function inTurn<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>) {
    const giveBack = await share.wait(tenant, signal)
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /** Fetches the objects that the server has and the mirror lacks. */
  async function fetchMissing(fetching: MirrorFetch): Promise<void> {
    const { tenant, folder: path, looked, more, signal } = fetching
    const fetchMore = (pack: Pack) => inTurn(tenant, signal, () => fetchPack(fetching, pack))
    const packs = join(path, 'objects', 'pack')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const found = await readdir(packs).catch(() => [])
    if (found.length > 2 * mostPacks) await discard(path)
    await mkdir(packs, { recursive: true })
    await removeLeft(path, clock.now() - leftMs)
    // Marks the mirror as used, so that it is not removed.
    const now = new Date(clock.now())
    await utimes(path, now, now)
    const tips = await tipsOf(path)
    const missing = (ids: Iterable<string>) => [...new Set(ids)].filter((id) => !tips.has(id))
    const wants = missing([...looked.ids.values(), ...more])
    if (wants.length === 0) return
    const haves = [...tips].slice(-mostHaves)
    const got = await fetchMore({ wants, haves }).catch(async (error: unknown) => {
      const without = missing(looked.ids.values())
      // A requested commit may be refused by the server. The checkout reports that later.
      if (without.length === wants.length) throw error
      return without.length === 0 ? [] : fetchMore({ wants: without, haves })
    })
    await writeTips(path, [...tips, ...got])
  }

  async function fetchPack(from: MirrorFetch, { wants, haves }: Pack): Promise<readonly string[]> {
    const { remote, folder: path, looked } = from
    const work = join(path, `fetch-${randomUUID()}`)
    await mkdir(work)
    try {
      const pack = join(work, 'incoming.pack')
      const signal = AbortSignal.any([from.signal, AbortSignal.timeout(fetchMs)])
      if (await remote.fetch(looked, { wants, haves }, pack, signal)) {
        const folder = { pack, objects: join(path, 'objects'), folder: work }
        await indexPack(indexing, folder, { timeoutMs: fetchMs, signal })
      }
      return wants
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }

  return {
    /**
     * Asks the server, fetches new objects, and puts all objects of the mirror into a new folder, as hard links where
     * the file system can. `more`: a commit that no branch has to contain. Throws `RepositoryFailure`.
     */
    async fetchInto(
      tenant: string,
      address: RepositoryAddress,
      { to, more, signal }: { to: string; more: readonly string[]; signal: AbortSignal },
    ): Promise<RemoteState> {
      const remote = connect()
      try {
        const looked = await inTurn(tenant, signal, () => remote.look(address, signal))
        const folder = folderOf(tenant, address)
        const fetchAndLink = async () => {
          await fetchMissing({ tenant, remote, folder, looked, more, signal })
          await linkAll(join(folder, 'objects', 'pack'), to)
        }
        await alone(folder, () =>
          fetchAndLink().catch((error: unknown) => {
            // Another process removed the mirror as unused in this moment.
            if (isGone(error)) return fetchAndLink()
            throw error
          }),
        )
        return looked
      } finally {
        await remote.close()
      }
    },

    /** Call when the objects of a mirror turned out to be incomplete. */
    discard: (tenant: string, address: RepositoryAddress): Promise<void> => {
      const folder = folderOf(tenant, address)
      return alone(folder, () => discard(folder)).catch((error: unknown) =>
        log.warn('a mirror could not be removed', { error }),
      )
    },

    /** Removes mirrors that were unused for long. */
    async removeUnused(): Promise<true> {
      for (const tenant of await readdir(folder).catch(() => [])) {
        for (const [index, path] of (await newestFirst(join(folder, tenant))).entries()) {
          const since = clock.now() - (index < mostMirrors ? keptMs : hour)
          const away = `${path}.${randomUUID()}`
          if ((await usedAt(path)) < since) await alone(path, () => removeUnused(path, away, since))
        }
      }
      return true
    },
  }
}

const usedAt = async (folder: string): Promise<number> => {
  const found = await stat(folder).catch(() => undefined)
  return found?.mtimeMs ?? Number.POSITIVE_INFINITY
}

async function discard(folder: string): Promise<void> {
  const away = `${folder}.${randomUUID()}`
  if (await moveAway(folder, away)) await rm(away, { recursive: true, force: true })
}

/** Removes what fetches have left whose process was killed before `since`. */
async function removeLeft(folder: string, since: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if (/^(fetch|tips)-/.test(name) && (await usedAt(path)) < since)
      await rm(path, { recursive: true, force: true })
  }
}

async function newestFirst(folder: string): Promise<string[]> {
  const path = (await readdir(folder)).map((name) => join(folder, name))
  const found = await Promise.all(
    path.map(async (folder) => ({ folder, at: await usedAt(folder) })),
  )
  return found.toSorted((one, other) => other.at - one.at).map(({ folder }) => folder)
}

function isGone(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}

/** Commits whose whole history is in the mirror. */
async function tipsOf(folder: string): Promise<Set<string>> {
  const text = await readFile(join(folder, 'tips'), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter((line) => /^[\da-f]{40}$/.test(line)))
}

/** Ordered by time, the newest last. */
async function writeTips(folder: string, tips: readonly string[]): Promise<void> {
  const fresh = join(folder, `tips-${randomUUID()}`)
  await writeFile(fresh, tips.slice(-mostTips).join('\n'))
  await rename(fresh, join(folder, 'tips'))
}

async function linkAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await Promise.all(
    (await readdir(from)).map(async (name) => {
      const [source, target] = [join(from, name), join(to, name)]
      await link(source, target).catch(() => copyFile(source, target))
    }),
  )
}
