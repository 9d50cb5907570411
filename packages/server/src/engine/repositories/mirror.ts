/**
 * Objects of repositories that sessions have worked in, so that the next one fetches only what is new. A mirror
 * belongs to one tenant, one address and one token: what a token opened, no other is given. It is never used before
 * the server has answered to that token anew.
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
import type { Share } from '../../ground/core/share.ts'
import { moveAway, removeUnused } from '@steward/sandbox/remove.ts'
import type { Clock } from '@steward/base/time.ts'
import { oneByOne } from '../../ground/core/turns.ts'
import type { Indexing } from './indexing.ts'
import { indexPack } from './indexing.ts'
import type { Address, RemoteState, Pack, Remote } from './remote.ts'

const fetchMs = 15 * 60_000
const mostHaves = 256
/** A mirror of more packs is begun anew. */
const mostPacks = 40
const mostTips = 50_000
const hour = 60 * 60_000
/** A mirror unused for so long is removed; of those of a tenant beyond the newest, after an hour. */
const keptMs = 7 * 24 * hour
const mostMirrors = 50

export type MirrorDeps = {
  /** Of all mirrors; the server's alone. */
  folder: string
  /** SECRET: never logged. Their names are made under it, so that they tell nothing of tokens. */
  key: Buffer
  /** Connections are shared by none. */
  connect: () => Remote
  indexing: Indexing
  /** Of what this process asks, fetches and indexes. */
  share: Share
  clock: Clock
  log: Log
}

type Fetching = {
  tenant: string
  remote: Remote
  place: string
  looked: RemoteState
  more: readonly string[]
  signal: AbortSignal
}

export type Mirrors = ReturnType<typeof mirrors>

export function mirrors({ folder, key, connect, indexing, share, clock, log }: MirrorDeps) {
  /** Uses of a mirror; a process beside this one may fetch the same, which only costs. */
  const alone = oneByOne()

  const placeOf = (tenant: string, { url, token }: Address): string => {
    const parts = JSON.stringify([tenant, url, token ?? null])
    return join(folder, tenant, createHmac('sha256', key).update(parts).digest('hex'))
  }

  /** With a place of the tenant's, which nobody holds who only waits for another use of the same mirror. */
  async function inTurn<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>) {
    const giveBack = await share.wait(tenant, signal)
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /** Fetches what the mirror lacks of what the server has. */
  async function fetchMissing(fetching: Fetching): Promise<void> {
    const { tenant, place, looked, more, signal } = fetching
    const fetchMore = (pack: Pack) => inTurn(tenant, signal, () => fetchPack(fetching, pack))
    const packs = join(place, 'objects', 'pack')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const found = await readdir(packs).catch(() => [])
    if (found.length > 2 * mostPacks) await discard(place)
    await mkdir(packs, { recursive: true })
    // It is about to be used, and must not be removed as unused.
    const now = new Date(clock.now())
    await utimes(place, now, now)
    const tips = await tipsOf(place)
    const missing = (ids: Iterable<string>) => [...new Set(ids)].filter((id) => !tips.has(id))
    const wants = missing([...looked.ids.values(), ...more])
    if (wants.length === 0) return
    const haves = [...tips].slice(-mostHaves)
    const got = await fetchMore({ wants, haves }).catch(async (error: unknown) => {
      const without = missing(looked.ids.values())
      // A commit that was asked for may be none that the server gives: that is seen when it is checked out.
      if (without.length === wants.length) throw error
      return without.length === 0 ? [] : fetchMore({ wants: without, haves })
    })
    await writeTips(place, [...tips, ...got])
  }

  async function fetchPack(fetching: Fetching, { wants, haves }: Pack): Promise<readonly string[]> {
    const { remote, place, looked } = fetching
    const work = join(place, `fetch-${randomUUID()}`)
    await mkdir(work)
    try {
      const pack = join(work, 'incoming.pack')
      const signal = AbortSignal.any([fetching.signal, AbortSignal.timeout(fetchMs)])
      if (await remote.fetch(looked, { wants, haves }, pack, signal)) {
        const places = { pack, objects: join(place, 'objects'), folder: work }
        await indexPack(indexing, places, { timeoutMs: fetchMs, signal })
      }
      return wants
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }

  async function discard(place: string): Promise<void> {
    const away = `${place}.${randomUUID()}`
    if (await moveAway(place, away)) await rm(away, { recursive: true, force: true })
  }

  return {
    /**
     * Asks the server, brings what is new, and puts all objects into a new folder: linked where the file system can.
     * `more`: a commit that no branch need lead to. Throws `RepositoryFailure`.
     */
    async lend(
      tenant: string,
      address: Address,
      { to, more, signal }: { to: string; more: readonly string[]; signal: AbortSignal },
    ): Promise<RemoteState> {
      const remote = connect()
      try {
        const looked = await inTurn(tenant, signal, () => remote.look(address, signal))
        const place = placeOf(tenant, address)
        const fetchAndLink = async () => {
          await fetchMissing({ tenant, remote, place, looked, more, signal })
          await linkAll(join(place, 'objects', 'pack'), to)
        }
        await alone(place, () =>
          fetchAndLink().catch((error: unknown) => {
            // Another process has found it unused in just this moment.
            if (isGone(error)) return fetchAndLink()
            throw error
          }),
        )
        return looked
      } finally {
        await remote.close()
      }
    },

    /** After a mirror has lent what could not be used. */
    discard: (tenant: string, address: Address): Promise<void> => {
      const place = placeOf(tenant, address)
      return alone(place, () => discard(place)).catch((error: unknown) =>
        log.warn('a mirror could not be removed', { error }),
      )
    },

    /** Removes what nobody has used for long. */
    async removeUnused(): Promise<true> {
      for (const tenant of await readdir(folder).catch(() => [])) {
        for (const [index, place] of (await newestFirst(join(folder, tenant))).entries()) {
          const since = clock.now() - (index < mostMirrors ? keptMs : hour)
          const away = `${place}.${randomUUID()}`
          if ((await usedAt(place)) < since)
            await alone(place, () => removeUnused(place, away, since))
        }
      }
      return true
    },
  }
}

const usedAt = async (place: string): Promise<number> => {
  const found = await stat(place).catch(() => undefined)
  return found?.mtimeMs ?? Number.POSITIVE_INFINITY
}

async function newestFirst(folder: string): Promise<string[]> {
  const places = (await readdir(folder)).map((name) => join(folder, name))
  const found = await Promise.all(places.map(async (place) => ({ place, at: await usedAt(place) })))
  return found.toSorted((one, other) => other.at - one.at).map(({ place }) => place)
}

function isGone(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}

/** Commits whose whole history is there. */
async function tipsOf(place: string): Promise<Set<string>> {
  const text = await readFile(join(place, 'tips'), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter((line) => /^[\da-f]{40}$/.test(line)))
}

/** The newest last. */
async function writeTips(place: string, tips: readonly string[]): Promise<void> {
  const fresh = join(place, `tips-${randomUUID()}`)
  await writeFile(fresh, tips.slice(-mostTips).join('\n'))
  await rename(fresh, join(place, 'tips'))
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
