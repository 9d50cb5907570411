/** One open stream: changes of its workspace and events of the sessions that it follows. [stream/frames] */
import type { Subscription, WorkspaceStreamShown } from '@steward/protocol/workspace-stream.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Reads } from '../../ground/database/database.ts'
import { sseFrame } from '../../ground/http/sse.ts'
import { presenter } from '../events/wire.ts'
import type { Change, WorkspaceChanges } from './changes.ts'
import { followSession } from './follow-session.ts'
import type { StreamPosition } from './position.ts'
import { positionText } from './position.ts'

export type StreamDeps = {
  id: string
  tenant: string
  read: Reads
  bus: Bus
  clock: Clock
  changes: Pick<WorkspaceChanges, 'follow'>
}

/** Frames of one session that wait for a slow reader. Its events are then read no further. */
const mostWaiting = 16
/** Changes that wait for a slow reader. Above them the reader is told to read its lists again. */
const mostChanges = 5_000

type FollowedSession = { chunks: boolean; stop: () => void }

export type WorkspaceStream = ReturnType<typeof workspaceStream>

export function workspaceStream(deps: StreamDeps, position: StreamPosition) {
  const { id, tenant, read, bus, clock, changes } = deps
  /** Changes to send, the newest of each session. */
  const changed = new Map<string, string>()
  const frames: string[] = []
  const followed = new Map<string, FollowedSession>()
  const over = new AbortController()
  let unfollow: (() => void) | undefined
  let wakeReader = () => {}
  let wakeWriters: (() => void)[] = []

  const reset = (session?: string) =>
    sseFrame(
      JSON.stringify({
        type: 'stream.reset',
        ...(session !== undefined && { session_id: session }),
      }),
    )

  function tell(list: readonly Change[]): void {
    for (const { id: session, text } of list) {
      // Behind those that wait already, so that the newest position is sent last.
      changed.delete(session)
      changed.set(session, text)
    }
    if (changed.size > mostChanges) {
      changed.clear()
      frames.push(reset())
    }
    wakeReader()
  }

  async function push(frame: string): Promise<void> {
    frames.push(frame)
    wakeReader()
    while (frames.length >= mostWaiting && !over.signal.aborted)
      await new Promise<void>((resolve) => wakeWriters.push(resolve))
  }

  function stop(session: string): void {
    followed.get(session)?.stop()
    followed.delete(session)
    position.sessions.delete(session)
  }

  async function pump(
    { session_id: session, chunks = false }: Subscription,
    after: number,
    signal: AbortSignal,
  ): Promise<void> {
    const source = { read, bus, tenant, session }
    const tailed = await followSession(source, { after, chunks, signal })
    const idOf = (seq: number) => {
      position.sessions.set(session, seq)
      return positionText(position)
    }
    const present = presenter(session, { chunks, deltas: [], dialect: 'interface', idOf })
    for await (const each of tailed) {
      if (signal.aborted) break
      const text = present(each)
      if (text !== '') await push(text)
      if (each.kind === 'kept' && each.row.type === 'session.deleted') break
    }
  }

  return {
    id,
    tenant,
    reset: (session?: string) => void frames.push(reset(session)),

    shown: (): WorkspaceStreamShown => ({
      id,
      type: 'stream',
      workspace: unfollow !== undefined,
      sessions: [...followed.keys()],
    }),
    followed: () => followed.size,
    isFollowed: (session: string) => followed.has(session),

    /** Sends changes from now on, and before them `missed`. */
    followWorkspace(missed: readonly Change[] = []): void {
      unfollow ??= changes.follow(tenant, tell)
      tell(missed)
    },
    leaveWorkspace(): void {
      unfollow?.()
      unfollow = undefined
      changed.clear()
    },

    /** Sends the session's events behind `after`. `fail` hears an error of the database. */
    follow(asked: Subscription, after: number, fail: (error: unknown) => void): void {
      const { session_id: session } = asked
      stop(session)
      const ended = new AbortController()
      const signal = AbortSignal.any([ended.signal, over.signal])
      followed.set(session, { chunks: asked.chunks ?? false, stop: () => ended.abort() })
      position.sessions.set(session, after)
      pump(asked, after, signal).catch((error: unknown) => {
        if (signal.aborted) return
        stop(session)
        frames.push(reset(session))
        wakeReader()
        fail(error)
      })
    },
    unfollow: stop,

    /** The frames, until the reader disconnects. `begin` runs behind the first one, which names the stream. */
    async *texts(gone: AbortSignal, begin: () => Promise<void>): AsyncGenerator<string> {
      const wake = () => wakeReader()
      gone.addEventListener('abort', wake, { once: true })
      try {
        yield sseFrame(JSON.stringify({ type: 'stream.opened', id }), positionText(position))
        await begin()
        while (!gone.aborted) {
          if (frames.length > 0) {
            const text = frames.splice(0).join('')
            for (const writer of wakeWriters.splice(0)) writer()
            yield text
          } else if (changed.size > 0) {
            position.at = clock.now()
            const [[session, text] = ['', '']] = changed
            changed.delete(session)
            yield sseFrame(text, positionText(position))
          } else await new Promise<void>((resolve) => (wakeReader = resolve))
        }
      } finally {
        gone.removeEventListener('abort', wake)
        this.close()
      }
    },

    close(): void {
      over.abort()
      unfollow?.()
      unfollow = undefined
      for (const { stop: end } of followed.values()) end()
      followed.clear()
      for (const writer of wakeWriters.splice(0)) writer()
      wakeReader()
    },
  }
}
