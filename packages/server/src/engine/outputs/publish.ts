/**
 * Publishes the output files of a session. At the end of a turn each new or changed file is copied once into the blob
 * store. All files of a turn are published in one commit. A published copy stays, even if the original is changed or
 * deleted.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { outputsPath } from '@steward/sandbox/sandbox.ts'
import { openAlong, openFolder } from '@steward/space/working-folder/opened-folder.ts'
import { outputsBelowWorkspace } from '@steward/space/working-folder/outputs.ts'
import { outputName } from '@steward/protocol/outputs.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { BlobStoreError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Quotas } from '../../tenants/limits/quotas.ts'
import { quotaUseStore } from '../../tenants/limits/use/store.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Ground } from '../../ground/ground.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import { getHeadForUpdate } from '../../sessions/log/head.ts'
import { fileStore } from '../../resources/files/store.ts'
import type { MountKind } from '../runner/sandboxes/mount-kind.ts'
import type { OutputRow } from '../../sessions/rows/outputs.ts'
import { quotaMessage } from '../../sessions/outputs/limits.ts'
import { outputStore } from '../../sessions/rows/outputs.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { Copy, OutputLimits, OutputPublication, PublishState } from './copy.ts'
import { copyOutput, noteOutput, tooMuch } from './copy.ts'
import type { SkippedOutput } from './walk.ts'
import { filesIn } from './walk.ts'

/** Entries of the folder that are looked at. */
const mostEntries = 10_000
const atOnce = 4
const mostTold = 10

export type PublishDeps = Ground & {
  keeping: BlobKeeping
  /** True when this host ran the session last. A file on another host may be older than its published copy. */
  isHere: (turned: FinishedTurn) => Promise<boolean>
  limits: OutputLimits
  quotas: Quotas
}

export type FinishedTurn = {
  tenant: string
  session: string
  generation: number
  /** The session's folder on this host. */
  own: string
}

/** This file exists while outputs may be unpublished. It says `failed` where the last attempt failed. */
export const markPath = (own: string): string => join(own, 'outputs.open')
const failed = 'failed'

/** True when the last attempt to publish the outputs in this session's folder failed. */
export const hasFailed = async (own: string): Promise<boolean> =>
  (await readFile(markPath(own), 'utf8').catch(() => '')) === failed

export function outputPublisher(deps: PublishDeps) {
  const states = new Map<string, PublishState>()
  /** Sessions whose last attempt failed in this process. */
  const unpublished = new Map<string, FinishedTurn>()
  /** Attempts that are under way. The end of a turn and the job never publish one session at a time. */
  const underWay = new Map<string, Promise<void>>()

  const kind: MountKind = async ({ session, folder, row: { outputs_path } }) => {
    await mkdir(folder, { recursive: true })
    await writeFile(markPath(folder), '')
    return {
      ...(outputs_path !== null && outputsBelowWorkspace(outputs_path)),
      ended: async () => void states.delete(session),
    }
  }

  async function attempt(turned: FinishedTurn, isRunning: boolean): Promise<void> {
    const { session, own } = turned
    if (!isRunning && (!existsSync(markPath(own)) || !(await deps.isHere(turned)))) return
    const state = states.get(session) ?? { stamps: new Map(), told: new Set() }
    if (isRunning) states.set(session, state)
    const { tenant } = turned
    const { read } = await deps.databases.open(tenant)
    const path = await outputStore(read).path(tenant, session)
    const root = await openOutputs(own, path)
    let isAll = true
    try {
      if (root) isAll = await publishAll(deps, { ...turned, path }, root, state)
    } finally {
      await root?.close()
    }
    // Without the mark, the end of a turn that uses no sandbox would not look for the rest.
    if (!isRunning && isAll) await rm(markPath(own), { force: true })
    else if (isRunning && unpublished.has(session)) await writeFile(markPath(own), '')
  }

  async function keepAttempt(turned: FinishedTurn, isRunning: boolean): Promise<void> {
    const { session, own } = turned
    try {
      await attempt(turned, isRunning)
      unpublished.delete(session)
    } catch (error) {
      unpublished.set(session, turned)
      await writeFile(markPath(own), failed).catch(() => {})
      throw error
    }
  }

  /** `isRunning`: the session's sandbox runs. Throws what failed; `left` has the session then. */
  async function publish(turned: FinishedTurn, isRunning: boolean): Promise<void> {
    const { session } = turned
    const before = underWay.get(session) ?? Promise.resolve()
    const mine = before.catch(() => {}).then(() => keepAttempt(turned, isRunning))
    underWay.set(session, mine)
    await mine.finally(() => underWay.get(session) === mine && underWay.delete(session))
  }

  return {
    kind,
    publish,
    /** The sessions whose last attempt failed in this process. */
    left: (): FinishedTurn[] => [...unpublished.values()],
    forget: (session: string) => void unpublished.delete(session),
    /** Publishes what a turn has left, where no other host has run the session since. */
    async again(turned: FinishedTurn): Promise<void> {
      if (await deps.isHere(turned)) await publish(turned, states.has(turned.session))
      else unpublished.delete(turned.session)
    },
  }
}

export type OutputPublisher = ReturnType<typeof outputPublisher>

/** Opens the folder on this host that has this path in the sandbox. Follows no link that the session has made. */
async function openOutputs(own: string, path: string | null): Promise<FileHandle | undefined> {
  if (path === null) return openFolder(join(own, 'outputs'))
  const root = await openFolder(own)
  try {
    const found = root && (await openAlong(root, path.slice(1).split('/')))
    if (found && (await found.stat()).isDirectory()) return found
    await found?.close()
    return undefined
  } finally {
    await root?.close()
  }
}

/** `path`: of the outputs in the sandbox, where it is another one than `/mnt/session/outputs`. */
type PublishedTurn = FinishedTurn & { path: string | null }

/** Returns false when something is left for the end of the next turn. */
async function publishAll(
  deps: PublishDeps,
  turned: PublishedTurn,
  root: FileHandle,
  state: PublishState,
): Promise<boolean> {
  const { databases, keeping } = deps
  const { tenant, session } = turned
  const { files, left } = await filesIn(root, mostEntries)
  const fresh = files.filter(
    ({ parts, stamp }) => !stamp || state.stamps.get(outputName(parts)) !== stamp,
  )
  const known = new Map<string, OutputRow>()
  let stored = 0
  const most = (await deps.quotas.held(tenant, 'stored_bytes')).value ?? Infinity
  if (fresh.length > 0) {
    const { read } = await databases.open(tenant)
    const rows = await outputStore(read).rows(tenant, session)
    for (const row of rows) known.set(row.filename, row)
    stored = await quotaUseStore(read).used(tenant, 'stored_bytes')
  }
  const spent = { names: known.size, copied: 0, read: 0 }
  const pass: OutputPublication = { tenant, session, root, known, stored, most, state, left, spent }
  const copies: Copy[] = []
  const failures: unknown[] = []
  const waiting = fresh.values()
  const work = async () => {
    for (const { parts } of waiting) {
      // The turn waits: a store that is away is not asked for each file.
      if (failures.some((error) => error instanceof BlobStoreError)) return
      try {
        const copy = await copyOutput(deps, pass, parts)
        if (copy) copies.push(copy)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const { kept, isOurs } = await write(deps, turned, { copies, left, state, most, known }).catch(
    (error: unknown) => {
      failures.push(error)
      return nothingKept
    },
  )
  for (const { key } of copies) if (!kept.has(key)) await keeping.abandon(tenant, key)
  for (const { name, found, key } of copies) if (kept.has(key)) noteOutput(state, name, found)
  if (failures.length > 0) throw failures[0]
  return isOurs && !left.some(({ why }) => why === tooMuch(deps.limits))
}

/** `kept`: the blob keys in use. `isOurs`: no process has taken the session up since its turn. */
type StoredOutputs = { kept: ReadonlySet<string>; isOurs: boolean }
const nothingKept: StoredOutputs = { kept: new Set(), isOurs: false }

/**
 * Stores the copies in one commit, if no process has taken the session up since its turn. Leaves out what another process
 * of this folder has published meanwhile.
 */
async function write(
  { databases, keeping, clock }: PublishDeps,
  { tenant, session, generation, path }: PublishedTurn,
  {
    copies,
    left,
    state,
    most,
    known,
  }: Pick<OutputPublication, 'state' | 'most' | 'known'> & {
    copies: readonly Copy[]
    left: readonly SkippedOutput[]
  },
): Promise<StoredOutputs> {
  const database = await databases.open(tenant)
  if (copies.length === 0 && news(left, state).length === 0) return { ...nothingKept, isOurs: true }
  const { unsaid, ...written } = await database.write(async (tx: Queries) => {
    await sessionStore(tx).getForUpdate(tenant, session)
    const files = fileStore(tx)
    let bytes = await quotaUseStore(tx).usedAlone(tenant, 'stored_bytes')
    const over: SkippedOutput[] = []
    const within = copies.filter(({ found, row }) => {
      if (bytes + row.size_bytes > most) {
        over.push({ path: found.parts.join('/'), why: quotaMessage(most) })
        return false
      }
      bytes += row.size_bytes
      return true
    })
    const unsaid = news([...left, ...over], state)
    const events = unsaid.length > 0 ? [{ event: warningOf(path ?? outputsPath, unsaid) }] : []
    const { owner, status, ...head } = await getHeadForUpdate(tx, tenant, session)
    const isHeld = owner === database.owners.self || owner === null
    if (status === 'deleted' || head.generation !== generation || !isHeld)
      return { ...nothingKept, unsaid: [] }
    const now = new Map<string, string>()
    for (const { filename, file_id } of await outputStore(tx).rows(tenant, session))
      now.set(filename, file_id)
    const ours = within.filter(({ name }) => now.get(name) === known.get(name)?.file_id)
    if (events.length > 0) await appendEntries(tx, tenant, session, events, { now: clock.now() })
    for (const { key, name, row } of ours) {
      await keeping.hold(tx, tenant, key)
      await files.insert(row)
      const { id: file_id, sha256 } = row
      await outputStore(tx).put({
        tenant_id: tenant,
        session_id: session,
        filename: name,
        file_id,
        sha256,
      })
    }
    return { kept: new Set(ours.map(({ key }) => key)), isOurs: true, unsaid }
  })
  for (const each of unsaid) state.told.add(lineOf(each))
  return written
}

const lineOf = ({ path, why }: SkippedOutput): string => `${path}: ${why}`
const news = (left: readonly SkippedOutput[], { told }: PublishState): SkippedOutput[] =>
  left.filter((each) => !told.has(lineOf(each)))

function warningOf(folder: string, left: readonly SkippedOutput[]): NewEvent {
  const lines = left.slice(0, mostTold).map(lineOf)
  const more = left.length > mostTold ? `; and ${left.length - mostTold} others` : ''
  const message = `not published of ${folder}: ${lines.join('; ')}${more}`
  return { id: newId('event'), type: 'session.warning', reason: 'output_not_published', message }
}
