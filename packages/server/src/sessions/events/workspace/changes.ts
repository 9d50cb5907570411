/**
 * What changes in the sessions of a workspace, for everyone in this process who follows it. Changes of a quarter of a
 * second are read together, once for all followers. Without a follower nothing is read. [stream/workspace] Readers of one session
 * hear from here what it waits for. [events/ext/waiting-changed]
 */
import type { WaitingOn } from '@steward/protocol/waiting-on.ts'
import { runAgain } from '@steward/base/shared-runs.ts'
import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Reads } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import { wholeMinute } from '../../log/head.ts'
import { listenToChanges } from '../../log/topics.ts'
import { readSummaries } from '../../rows/summaries.ts'

/** `text`: JSON of the change, shared by all followers. */
export type Change = { id: string; text: string }
export type ChangeFollower = (changes: readonly Change[]) => void
export type WaitFollower = (waiting: WaitingOn) => void
export type WorkspaceChanges = ReturnType<typeof workspaceChanges>

/** The least time between two reads of a workspace. */
const gatherMs = 250
const lookMs = 15_000
const sessionsAtOnce = 200
/** How long after an append its session is looked at again, in case the notification was lost. */
const lostMs = 2 * minuteMs

type Workspace = {
  followers: Set<ChangeFollower>
  /** Those who hear what one session waits for. */
  ofSession: Map<string, Set<WaitFollower>>
  dirty: Set<string>
  /** The newest event of each session that changed lately, as far as followers were told. */
  told: Map<string, number>
  read: () => void
}

function leaveWorkspace(
  followed: Map<string, Workspace>,
  tenant: string,
  workspace: Workspace,
): void {
  if (workspace.followers.size > 0) return
  workspace.told.clear()
  // Whoever leaves twice may find another workspace there.
  if (workspace.ofSession.size === 0 && followed.get(tenant) === workspace) followed.delete(tenant)
}

export function workspaceChanges(deps: Ground) {
  const { databases, bus, clock, log } = deps
  const followed = new Map<string, Workspace>()
  const quit = new AbortController()
  const quiet = listenToChanges(bus, (change) => {
    if ('missed' in change) for (const tenant of followed.keys()) lookSafely(tenant)
    else if (followed.size > 0) note(change.tenant, change.session)
  })

  function note(tenant: string, session: string): void {
    const workspace = followed.get(tenant)
    if (!workspace || !isFollowed(workspace, session)) return
    workspace.dirty.add(session)
    workspace.read()
  }

  function newWorkspace(tenant: string): Workspace {
    const workspace = quietWorkspace()
    const read = runAgain(async () => {
      if (quit.signal.aborted) return
      await readDirty(tenant, workspace)
      await clock.sleep(gatherMs, quit.signal)
    })
    workspace.read = () => void read().catch(failed)
    return workspace
  }

  /** The sessions stay noted: they are read with the next change, or by the next look. */
  function failed(error: unknown): void {
    log.warn('changes of a workspace were not read', { error })
  }

  async function readDirty(tenant: string, workspace: Workspace): Promise<void> {
    const { followers, ofSession, dirty, told } = workspace
    while (dirty.size > 0) {
      for (const id of dirty) if (!isFollowed(workspace, id)) dirty.delete(id)
      const ids = [...dirty].slice(0, sessionsAtOnce)
      for (const id of ids) dirty.delete(id)
      try {
        const { read } = await databases.open(tenant)
        const changes = await readChanges(read, tenant, ids, clock.now())
        // A look at all sessions removes old ones, and takes place while there are followers.
        if (followers.size > 0) for (const { id, seq } of changes) told.set(id, seq)
        for (const tell of followers) tell(changes)
        for (const { id, waiting } of changes)
          for (const tell of ofSession.get(id) ?? []) tell(waiting)
      } catch (error) {
        for (const id of ids) dirty.add(id)
        throw error
      }
    }
  }

  /** Notes sessions whose newest event was not told, and those with readers of their own: waits end by time too. */
  async function look(tenant: string): Promise<void> {
    const workspace = followed.get(tenant)
    if (!workspace) return
    for (const id of workspace.ofSession.keys()) workspace.dirty.add(id)
    if (workspace.followers.size > 0) await lookAtAll(tenant, workspace)
    if (workspace.dirty.size > 0) workspace.read()
  }

  async function lookAtAll(tenant: string, workspace: Workspace): Promise<void> {
    const { read } = await databases.open(tenant)
    const rows = await changedSince(read, tenant, clock.now() - lostMs)
    const recent = new Set(rows.map(({ id }) => id))
    for (const id of workspace.told.keys()) if (!recent.has(id)) workspace.told.delete(id)
    for (const { id, seq } of rows)
      if ((workspace.told.get(id) ?? -1) < seq) workspace.dirty.add(id)
  }

  const lookSafely = (tenant: string): void => void look(tenant).catch(failed)

  function join(tenant: string): Workspace {
    const workspace = followed.get(tenant) ?? newWorkspace(tenant)
    followed.set(tenant, workspace)
    return workspace
  }

  return {
    /** Tells changes from now on. The returned function ends it. */
    follow(tenant: string, tell: ChangeFollower): () => void {
      const workspace = join(tenant)
      workspace.followers.add(tell)
      return () => {
        workspace.followers.delete(tell)
        leaveWorkspace(followed, tenant, workspace)
      }
    },

    /** Tells what a session waits for: now, and each time that it waits for something else. */
    followWait(tenant: string, session: string, tell: WaitFollower): () => void {
      const workspace = join(tenant)
      const remove = addReader(workspace, session, changesAlone(tell))
      note(tenant, session)
      return () => {
        remove()
        leaveWorkspace(followed, tenant, workspace)
      }
    },
    job: {
      name: 'look for changes that followers missed',
      everyMs: lookMs,
      run: async () => void (await Promise.allSettled([...followed.keys()].map(look))),
    } satisfies Job,
    async close(): Promise<void> {
      quit.abort()
      quiet()
    },
  }
}

const isFollowed = ({ followers, ofSession }: Workspace, session: string): boolean =>
  followers.size > 0 || ofSession.has(session)

const quietWorkspace = (): Workspace => ({
  followers: new Set(),
  ofSession: new Map(),
  dirty: new Set(),
  told: new Map(),
  read: () => {},
})

/** Returns what removes the reader again. */
function addReader({ ofSession }: Workspace, session: string, tell: WaitFollower): () => void {
  const readers = ofSession.get(session) ?? new Set()
  ofSession.set(session, readers.add(tell))
  return () => {
    readers.delete(tell)
    if (readers.size === 0 && ofSession.get(session) === readers) ofSession.delete(session)
  }
}

/** Passes on what differs from what it has passed on last. */
function changesAlone(tell: WaitFollower): WaitFollower {
  let told: string | undefined
  return (waiting) => {
    const text = JSON.stringify(waiting)
    if (text !== told) tell(waiting)
    told = text
  }
}

/** The changes of these sessions, deletions among them. */
export async function readChanges(
  read: Reads,
  tenant: string,
  ids: readonly string[],
  now: number,
): Promise<(Change & { seq: number; waiting: WaitingOn })[]> {
  const summaries = await readSummaries(read, tenant, ids, now)
  return ids.map((id) => {
    const object = summaries.get(id)
    const change = object
      ? { type: 'stream.changed', noun: 'session', id, object }
      : { type: 'stream.deleted', noun: 'session', id }
    return {
      id,
      text: JSON.stringify(change),
      seq: object?.last_event?.seq ?? 0,
      waiting: object?.waiting_on ?? null,
    }
  })
}

/** Sessions that changed since a time, deleted ones too, and all that run. At most `limit`. */
export const changedSince = (
  read: Reads,
  tenant: string,
  since: number,
  limit = 10_000,
): Promise<{ id: string; seq: number }[]> =>
  read
    .selectFrom('session_heads')
    .select(['session_id as id', 'next_seq as seq'])
    .where('tenant_id', '=', tenant)
    .where((eb) => eb.or([eb('changed_ms', '>=', wholeMinute(since)), eb('owner', 'is not', null)]))
    .limit(limit)
    .execute()
