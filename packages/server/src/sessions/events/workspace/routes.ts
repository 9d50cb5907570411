import type { Subscription, WorkspaceStreamChange } from '@steward/protocol/workspace-stream.ts'
import {
  mostFollowed,
  WorkspaceStreamChange as ChangeBody,
  WorkspaceStreamQuery,
  WorkspaceStreamShown,
} from '@steward/protocol/workspace-stream.ts'
import { invalid, PlatformError } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { actorOf } from '../../../ground/http/principal.ts'
import { streamReply } from '../../../ground/http/reply.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { readHead } from '../../log/head.ts'
import { sessionStore } from '../../rows/sessions.ts'
import type { Change, WorkspaceChanges } from './changes.ts'
import { changedSince, readChanges } from './changes.ts'
import type { StreamOwner } from './open-streams.ts'
import { openStreams } from './open-streams.ts'
import type { StreamPosition } from './position.ts'
import { readPosition, resumableMs } from './position.ts'
import type { WorkspaceStream } from './workspace-stream.ts'
import { workspaceStream } from './workspace-stream.ts'

const streams = section('The stream of a workspace', ['workspace'], '/v1/ext/stream')

type Opening = {
  workspace: boolean
  sessions: readonly string[]
  chunks: boolean
  lastEventId: string | null
}

/** Changes that a resumed reader is sent. Above them it reads its lists again. */
const mostMissed = 1_000
/** Changes this much before a reader's position come again: clocks of processes differ, and a change waits to be sent. */
const againMs = 10_000
const idsAtOnce = 200

export function workspaceStreamRoutes({
  bus,
  clock,
  log,
  changes,
}: Ground & { changes: WorkspaceChanges }): Route[] {
  const open = openStreams({ bus, clock })
  const failed = (error: unknown) => log.warn('a followed session was not read', { error })

  /** Changes since the position; undefined when there are too many, or it is too old. */
  async function missedSince(
    read: Reads,
    tenant: string,
    { at }: StreamPosition,
  ): Promise<Change[] | undefined> {
    const now = clock.now()
    if (at < now - resumableMs || at > now + againMs) return undefined
    const found = await changedSince(read, tenant, at - againMs, mostMissed + 1)
    if (found.length > mostMissed) return undefined
    const missed: Change[] = []
    for (let from = 0; from < found.length; from += idsAtOnce) {
      const ids = found.slice(from, from + idsAtOnce).map(({ id }) => id)
      missed.push(...(await readChanges(read, tenant, ids, now)))
    }
    return missed
  }

  /** Follows a session that exists. Throws not_found for any other. */
  async function follow(read: Reads, stream: WorkspaceStream, asked: Subscription): Promise<void> {
    const { session_id: session, after_seq } = asked
    if (!stream.isFollowed(session) && stream.followed() >= mostFollowed)
      throw invalid(`follow: a stream follows ${mostFollowed} sessions at most: unfollow one first`)
    await sessionStore(read).row(stream.tenant, session)
    const newest = (await readHead(read, stream.tenant, session)).next_seq
    // The reader's event may be missing, for example after a restored backup.
    if (after_seq !== undefined && after_seq > newest) stream.reset(session)
    stream.follow(asked, Math.min(after_seq ?? newest, newest), failed)
  }

  async function apply(
    read: Reads,
    stream: WorkspaceStream,
    { workspace, follow: more = [], unfollow = [] }: WorkspaceStreamChange,
  ): Promise<WorkspaceStreamShown> {
    for (const session of unfollow) stream.unfollow(session)
    for (const each of more) await follow(read, stream, each)
    if (workspace === true) stream.followWorkspace()
    if (workspace === false) stream.leaveWorkspace()
    return stream.shown()
  }

  /** Follows at once, so that nothing falls between the request and the first read. */
  function opened(
    read: Reads,
    owner: StreamOwner,
    gone: AbortSignal,
    { workspace, sessions, chunks, lastEventId }: Opening,
  ): AsyncGenerator<string> {
    const { tenant } = owner
    const id = open.newId()
    const position = { at: clock.now(), sessions: new Map<string, number>() }
    const stream = workspaceStream({ id, tenant, read, bus, clock, changes }, position)
    const remove = open.add(id, { ...owner, apply: (change) => apply(read, stream, change) })
    const end = () => {
      remove()
      stream.close()
    }
    if (gone.aborted) end()
    else gone.addEventListener('abort', end, { once: true })
    if (workspace) stream.followWorkspace()
    return stream.texts(gone, async () => {
      const last = lastEventId === null ? undefined : readPosition(lastEventId)
      const missed = workspace && last ? await missedSince(read, tenant, last) : []
      if ((lastEventId !== null && !last) || !missed) stream.reset()
      else if (workspace) stream.followWorkspace(missed)
      for (const session_id of sessions) {
        const seq = last?.sessions.get(session_id)
        const after = seq === undefined ? {} : { after_seq: seq }
        // The session may have been deleted since the request.
        await follow(read, stream, { session_id, chunks, ...after }).catch((error: unknown) => {
          stream.reset(session_id)
          if (!(error instanceof PlatformError)) throw error
        })
      }
    })
  }

  return [
    streams.get(
      '',
      {
        summary: 'Follow a workspace as a stream (SSE)',
        description:
          'What changes in it, and the events of chosen sessions with all their threads, over one connection. Resumes by `Last-Event-ID` for an hour; `stream.reset` says what could not be resumed.',
        query: WorkspaceStreamQuery,
        isQueryChecked: true,
        answer: 'stream',
      },
      async ({ db, tenant, principal, query, lastEventId }) => {
        const { read } = db
        const { workspace = true, sessions = [], chunks = false } = query
        if (sessions.length > mostFollowed)
          throw invalid(`sessions: a stream follows ${mostFollowed} sessions at most`)
        for (const session of sessions) await sessionStore(read).row(tenant, session)
        const owner = { tenant, actor: actorOf(principal) }
        return streamReply((gone) =>
          opened(read, owner, gone, { workspace, sessions, chunks, lastEventId }),
        )
      },
    ),
    streams.post(
      '/:id',
      {
        summary: 'Change what a stream follows',
        description: 'Of a stream that the same caller has open, in any process.',
        body: ChangeBody,
        changesNothing: true,
        counted: 'never',
        answer: WorkspaceStreamShown,
      },
      ({ tenant, principal, params, body }) =>
        open.change(params.id, { tenant, actor: actorOf(principal) }, body),
    ),
  ]
}
