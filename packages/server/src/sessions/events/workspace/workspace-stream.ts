/** One open stream: changes of its workspace and events of the sessions that it follows. [stream/workspace] */
import type { Subscription, WorkspaceStreamShown } from '@steward/protocol/workspace-stream.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../../ground/bus/bus.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { sseFrame } from '../../../ground/http/sse.ts'
import { createPresenter } from '../wire.ts'
import type { Change, WorkspaceChanges } from './changes.ts'
import { followSession } from './follow-session.ts'
import type { StreamPosition } from './position.ts'
import { positionText } from './position.ts'
import type { WaitingFrames } from './waiting-frames.ts'
import { waitingFrames } from './waiting-frames.ts'

type StreamDeps = {
  id: string
  tenant: string
  read: Reads
  bus: Bus
  clock: Clock
  changes: Pick<WorkspaceChanges, 'follow'>
}

export type WorkspaceStream = ReturnType<typeof workspaceStream>

const resetFrame = (session?: string): string =>
  sseFrame(
    JSON.stringify({
      type: 'stream.reset',
      ...(session !== undefined && { session_id: session }),
    }),
  )

type FollowedSession = Subscription & { after: number; signal: AbortSignal }

/** Brings the events of a session to the reader, no faster than it takes them, until the signal aborts. */
async function bringEvents(
  { tenant, read, bus }: StreamDeps,
  waiting: WaitingFrames,
  position: StreamPosition,
  { session_id: session, chunks = false, after, signal }: FollowedSession,
): Promise<void> {
  const source = { read, bus, tenant, session }
  const tailed = await followSession(source, { after, chunks, signal })
  const idOf = (seq: number) => {
    position.sessions.set(session, seq)
    return positionText(position)
  }
  const present = createPresenter(session, { chunks, deltas: [], dialect: 'interface', idOf })
  for await (const each of tailed) {
    if (signal.aborted) break
    const text = present(each)
    if (text !== '') await waiting.push(text)
    if (each.kind === 'kept' && each.row.type === 'session.deleted') break
  }
}

export function workspaceStream(deps: StreamDeps, position: StreamPosition) {
  const { id, tenant, clock, changes } = deps
  const waiting = waitingFrames(resetFrame)
  const followed = new Map<string, () => void>()
  let leave: (() => void) | undefined
  let isClosed = false

  function unfollow(session: string): void {
    followed.get(session)?.()
    followed.delete(session)
    position.sessions.delete(session)
  }

  function leaveWorkspace(): void {
    leave?.()
    leave = undefined
    waiting.forgetChanges()
  }

  function close(): void {
    isClosed = true
    leaveWorkspace()
    for (const session of followed.keys()) unfollow(session)
    waiting.end()
  }

  return {
    tenant,
    shown: (): WorkspaceStreamShown => ({
      id,
      type: 'stream',
      workspace: leave !== undefined,
      sessions: [...followed.keys()],
    }),
    followed: () => followed.size,
    isFollowed: (session: string) => followed.has(session),
    /** Tells the reader that it has missed something: of the workspace, or of a session. */
    reset: (session?: string) => waiting.add(resetFrame(session)),

    /** Sends changes from now on, and before them `missed`. */
    followWorkspace(missed: readonly Change[] = []): void {
      if (isClosed) return
      leave ??= changes.follow(tenant, (list) => waiting.change(list))
      waiting.change(missed)
    },
    leaveWorkspace,

    /** Sends the session's events behind `after`. `fail` hears why they could not be read. */
    follow(asked: Subscription, after: number, fail: (error: unknown) => void): void {
      const { session_id: session } = asked
      // The reader may have gone while the session was looked up.
      if (isClosed) return
      unfollow(session)
      const ended = new AbortController()
      followed.set(session, () => ended.abort())
      position.sessions.set(session, after)
      const following = { ...asked, after, signal: ended.signal }
      bringEvents(deps, waiting, position, following).catch((error: unknown) => {
        if (ended.signal.aborted) return
        unfollow(session)
        waiting.add(resetFrame(session))
        fail(error)
      })
    },
    unfollow,
    close,

    /** The frames, until the reader disconnects. `begin` runs behind the first one, which names the stream. */
    async *texts(gone: AbortSignal, begin: () => Promise<void>): AsyncGenerator<string> {
      gone.addEventListener('abort', waiting.wake, { once: true })
      try {
        yield sseFrame(JSON.stringify({ type: 'stream.opened', id }), positionText(position))
        await begin()
        for (;;) {
          const next = await waiting.next(gone)
          if (!next) return
          if ('text' in next) yield next.text
          else {
            position.at = clock.now()
            yield sseFrame(next.change, positionText(position))
          }
        }
      } finally {
        gone.removeEventListener('abort', waiting.wake)
        close()
      }
    },
  }
}
