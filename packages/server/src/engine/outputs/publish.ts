/**
 * Publishes the output files of a session. At the end of a turn each new or changed file is copied once into the blob
 * store. All files of a turn are published in one commit. A published copy stays, even if the original is changed or
 * deleted.
 */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { outputName } from '@steward/protocol/outputs.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Quotas } from '../../tenants/limits/quotas.ts'
import { quotaUseStore } from '../../tenants/limits/use/store.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases, Queries } from '../../ground/database/database.ts'
import { appendEntries } from '../../sessions/log/append.ts'
import { fileStore } from '../../resources/files/store.ts'
import type { MountKind } from '../runner/mount-kind.ts'
import type { OutputRow } from '../../sessions/rows/outputs.ts'
import { quotaMessage } from '../../sessions/outputs/limits.ts'
import { outputStore } from '../../sessions/rows/outputs.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { Copy, OutputLimits, OutputPublication, PublishState } from './copy.ts'
import { copyOf, noteOutput } from './copy.ts'
import type { SkippedOutput } from './walk.ts'
import { filesIn, openFolder } from './walk.ts'

/** Entries of the folder that are looked at. */
const mostEntries = 10_000
const atOnce = 4
const mostTold = 10

export type PublishDeps = {
  databases: Databases
  keeping: BlobKeeping
  clock: Clock
  /** True when this host ran the session last. A file on another host may be older than its published copy. */
  isHere: (turned: FinishedTurn) => Promise<boolean>
  limits: OutputLimits
  quotas: Pick<Quotas, 'held'>
}

export type FinishedTurn = {
  tenant: string
  session: string
  generation: number
  /** The session's folder on this host. */
  own: string
}

/** This file exists while outputs may be unpublished. */
const markOf = (own: string): string => join(own, 'outputs.open')

export function outputPublisher(deps: PublishDeps) {
  const states = new Map<string, PublishState>()

  const kind: MountKind = async ({ session, folder }) => {
    await mkdir(folder, { recursive: true })
    await writeFile(markOf(folder), '')
    return { ended: async () => void states.delete(session) }
  }

  /** `isRunning`: the session's sandbox runs. */
  async function publish(turned: FinishedTurn, isRunning: boolean): Promise<void> {
    const { session, own } = turned
    if (!isRunning && (!existsSync(markOf(own)) || !(await deps.isHere(turned)))) return
    const state = states.get(session) ?? { stamps: new Map(), told: new Set() }
    if (isRunning) states.set(session, state)
    const root = await openFolder(join(own, 'outputs'))
    try {
      if (root) await publishAll(deps, turned, root, state)
    } finally {
      await root?.close()
    }
    if (!isRunning) await rm(markOf(own), { force: true })
  }

  return { kind, publish }
}

async function publishAll(
  deps: PublishDeps,
  turned: FinishedTurn,
  root: FileHandle,
  state: PublishState,
): Promise<void> {
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
      try {
        const copy = await copyOf(deps, pass, parts)
        if (copy) copies.push(copy)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const isKept = await write(deps, turned, { copies, left, state, most }).catch(
    (error: unknown) => {
      failures.push(error)
      return new Set<string>()
    },
  )
  for (const { key } of copies) if (!isKept.has(key)) await keeping.abandon(tenant, key)
  for (const { name, found, key } of copies) if (isKept.has(key)) noteOutput(state, name, found)
  if (failures.length > 0) throw failures[0]
}

/** Stores the copies in one commit, if this process still holds the session. Returns the blob keys in use. */
async function write(
  { databases, keeping, clock }: PublishDeps,
  { tenant, session, generation }: FinishedTurn,
  {
    copies,
    left,
    state,
    most,
  }: Pick<OutputPublication, 'state' | 'most'> & {
    copies: readonly Copy[]
    left: readonly SkippedOutput[]
  },
): Promise<Set<string>> {
  const database = await databases.open(tenant)
  const fence = { owner: database.owners.self, generation }
  if (copies.length === 0 && news(left, state).length === 0) return new Set()
  const { kept, unsaid } = await database.write(async (tx: Queries) => {
    await sessionStore(tx).take(tenant, session)
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
    const events = unsaid.length > 0 ? [{ event: warningOf(unsaid) }] : []
    if (!(await appendEntries(tx, tenant, session, events, { now: clock.now(), fence })))
      return { kept: new Set<string>(), unsaid: [] }
    for (const { key, name, row } of within) {
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
    return { kept: new Set(within.map(({ key }) => key)), unsaid }
  })
  for (const each of unsaid) state.told.add(lineOf(each))
  return kept
}

const lineOf = ({ path, why }: SkippedOutput): string => `${path}: ${why}`
const news = (left: readonly SkippedOutput[], { told }: PublishState): SkippedOutput[] =>
  left.filter((each) => !told.has(lineOf(each)))

function warningOf(left: readonly SkippedOutput[]): NewEvent {
  const lines = left.slice(0, mostTold).map(lineOf)
  const more = left.length > mostTold ? `; and ${left.length - mostTold} others` : ''
  const message = `not published of /mnt/session/outputs: ${lines.join('; ')}${more}`
  return { id: newId('event'), type: 'session.warning', reason: 'output_not_published', message }
}
