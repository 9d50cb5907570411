/** The log of one session in this page: what was, page by page from its end, and what comes, by the stream. */
import { useEffect, useMemo } from 'react'
import { api, dataOf } from '../../lib/api/client.ts'
import type { LiveSessionEvent, SessionEvent } from '../../lib/api/types.ts'
import { isAbsent } from '../../lib/failures.ts'
import type { FollowedValue } from '../../lib/store.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { followAgain, onSession } from '../../lib/stream/tab-stream.ts'
import type { CallOutput } from './live-outputs.ts'
import { liveOutputs } from './live-outputs.ts'
import { threadOf } from './moments.ts'
import { readWaiting } from './session.ts'

/** What is being written, and is no event yet. */
type LiveAnswer = {
  id: string
  kind: 'message' | 'thinking'
  text: string
  /** Of a child thread: its id. */
  thread: string | undefined
}

export type ShownLog = {
  /** Of all threads, by their place in the log. Long texts of earlier ones are their beginnings. */
  events: readonly SessionEvent[]
  live: readonly LiveAnswer[]
  /** What running commands have written so far, by call. */
  outputs: ReadonlyMap<string, CallOutput>
  /** Messages that no turn has read yet. */
  waiting: readonly SessionEvent[]
  state: 'loading' | 'ready' | 'failed'
  error: Error | undefined
  /** Whether there are events before the first one here. */
  hasEarlier: boolean
}

type WaitingContent = Extract<SessionEvent, { type: 'user.message' }>['content']

const pageSize = 200
/** After a refusal, so much later: a server that is busy is not asked at once. */
const againMs = 5_000
const empty: ShownLog = {
  events: [],
  live: [],
  outputs: new Map(),
  waiting: [],
  state: 'loading',
  error: undefined,
  hasEarlier: false,
}

/** An event has a place in the log, or waits for one; anything else is live alone. */
const isKept = (data: unknown): data is SessionEvent =>
  typeof data === 'object' && data !== null && 'id' in data && 'created_at' in data

const seqOf = ({ seq }: SessionEvent): number => seq ?? Number.POSITIVE_INFINITY

/** Collects news, and shows it once a frame. */
function createLog() {
  const store = createStore(empty)
  const events: SessionEvent[] = []
  const known = new Set<string>()
  const waiting = new Map<string, SessionEvent>()
  const live = new Map<string, LiveAnswer>()
  const outputs = liveOutputs()
  /** The newest event when something live was heard last: what ended before it has not ended that. */
  let heardBehind = 0
  let frame: number | undefined
  /** What was shown last stays the same value, so that live words alone compute nothing anew from the events. */
  let hasMore = false

  function show(change: Partial<ShownLog> = {}): void {
    if (Object.keys(change).length > 0) return flush(change)
    frame ??= requestAnimationFrame(() => flush({}))
  }

  function flush(change: Partial<ShownLog>): void {
    if (frame !== undefined) cancelAnimationFrame(frame)
    frame = undefined
    const now = store.get()
    store.set({
      ...now,
      events: hasMore ? [...events] : now.events,
      live: [...live.values()],
      outputs: outputs.get(),
      waiting: [...waiting.values()],
      ...change,
    })
    hasMore = false
  }

  function add(event: SessionEvent): void {
    if (event.seq === null) {
      if (event.type === 'user.message') waiting.set(event.id, event)
      return
    }
    waiting.delete(event.id)
    if (known.has(event.id)) return
    known.add(event.id)
    // Almost always the last place.
    let at = events.length
    while (at > 0 && seqOf(events[at - 1] ?? event) > seqOf(event)) at--
    events.splice(at, 0, event)
    hasMore = true
    if (seqOf(event) > heardBehind) endLiveBy(event)
    outputs.settle(event)
    if (event.type === 'system.user_message_cancelled') waiting.delete(event.message_id)
    if (event.type === 'system.user_message_changed') changeWaiting(event.message_id, event.content)
  }

  function changeWaiting(id: string, content: WaitingContent): void {
    const message = waiting.get(id)
    if (message?.type === 'user.message') waiting.set(id, { ...message, content })
  }

  function endLiveBy(event: SessionEvent): void {
    if (event.type === 'agent.message') endLive('message', threadOf(event))
    if (event.type === 'agent.thinking') endLive('thinking', threadOf(event))
    if (event.type !== 'session.status_idle') return
    live.clear()
    outputs.clear()
  }

  const endLive = (kind: LiveAnswer['kind'], thread: string | undefined) => {
    for (const [id, each] of live) if (each.kind === kind && each.thread === thread) live.delete(id)
  }

  function write(piece: LiveAnswer): void {
    const before = live.get(piece.id)
    live.set(piece.id, { ...piece, text: (before?.text ?? '') + piece.text })
  }

  function hear(event: LiveSessionEvent): void {
    heardBehind = events.at(-1)?.seq ?? 0
    outputs.hear(event)
    const thread = threadOf(event)
    if (event.type === 'agent.message_chunk')
      write({ id: event.message_id, kind: 'message', text: event.delta, thread })
    if (event.type === 'agent.thinking_chunk')
      write({ id: event.thinking_id, kind: 'thinking', text: event.delta, thread })
  }

  return {
    store,
    has: (event: string): boolean => known.has(event),
    last: (): number | undefined => events.at(-1)?.seq ?? undefined,
    addAll(page: readonly SessionEvent[], change: Partial<ShownLog>): void {
      for (const event of page) add(event)
      show(change)
    },
    take(event: SessionEvent): void {
      add(event)
      show()
    },
    hear(event: LiveSessionEvent): void {
      hear(event)
      show()
    },
    /** Messages that waited before the page was opened. */
    addWaiting(messages: readonly SessionEvent[]): void {
      for (const message of messages) if (!known.has(message.id)) waiting.set(message.id, message)
      show()
    },
    fail: (error: Error) => show({ state: 'failed', error }),
  }
}

type UnreadMessage = Awaited<ReturnType<typeof readWaiting>>['data'][number]

/** A waiting message as the event that it becomes. */
const asEvent = (session: string, { id, content, created_at }: UnreadMessage): SessionEvent =>
  ({
    id,
    type: 'user.message',
    session_id: session,
    seq: null,
    content: content ?? [],
    created_at,
    processed_at: null,
  }) as SessionEvent

type OpenLog = {
  store: FollowedValue<ShownLog>
  start: (signal: AbortSignal) => void
  loadEarlier: () => void
}

/** Reads the newest page, follows the stream behind it, and reads earlier pages when asked. */
function openLog(id: string): OpenLog {
  const log = createLog()
  let earlier: string | undefined
  let isLoading = false

  /** `isNewest`: events that were missed, from the end; the place of earlier ones stays as it was. */
  async function loadPage(signal?: AbortSignal, isNewest = false): Promise<void> {
    if (isLoading) return
    isLoading = true
    try {
      const from = isNewest ? undefined : earlier
      const query = {
        order: 'desc',
        limit: pageSize,
        include: 'chunks',
        view: 'light',
        threads: 'all',
      } as const
      const answer = api.GET('/v1/sessions/{id}/events', {
        params: {
          path: { id },
          query: { ...query, ...(from !== undefined && { page: from }) },
        },
        ...(signal && { signal }),
      })
      const page = await dataOf(answer)
      // The same path answers a stream as text, to those who ask for one.
      if (typeof page === 'string') return
      const { data, next_page: next } = page
      const isJoined = isNewest && data.some(({ id: each }) => log.has(each))
      if (!isJoined) earlier = next ?? undefined
      const hasEarlier = earlier !== undefined
      const read = { state: 'ready', error: undefined, hasEarlier } as const
      // The client's types leave out what is always null.
      log.addAll(data as readonly SessionEvent[], read)
    } finally {
      isLoading = false
    }
  }

  const follow = (signal: AbortSignal) =>
    onSession(
      id,
      {
        last: () => log.last() ?? 0,
        onData(data) {
          if (data.type === 'stream.reset') void again(signal)
          else if (isKept(data)) log.take(data)
          else log.hear(data as LiveSessionEvent)
        },
        onRefused(message) {
          log.fail(new Error(message))
          setTimeout(() => void again(signal), againMs)
        },
      },
      signal,
    )

  /** Reads what was missed, and follows on behind it. */
  async function again(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    try {
      await loadPage(signal, true)
      followAgain(id)
    } catch (error) {
      if (signal.aborted) return
      fail(error)
      if (!isAbsent(error)) setTimeout(() => void again(signal), againMs)
    }
  }

  async function loadWaiting(signal: AbortSignal): Promise<void> {
    const { data } = await readWaiting(id, signal)
    log.addWaiting(data.map((message) => asEvent(id, message)))
  }

  const fail = (error: unknown) =>
    log.fail(error instanceof Error ? error : new Error(String(error)))

  return {
    store: log.store,
    start: (signal) =>
      void loadPage(signal)
        .then(() => follow(signal))
        .then(() => loadWaiting(signal))
        .catch((error: unknown) => {
          if (!signal.aborted) fail(error)
        }),
    loadEarlier: () => void loadPage().catch(fail),
  }
}

export type FollowedLog = ShownLog & { loadEarlier: () => void }

/** The log of a session while the page shows it. */
export function useSessionLog(id: string): FollowedLog {
  const opened = useMemo(() => openLog(id), [id])
  useEffect(() => {
    const ends = new AbortController()
    opened.start(ends.signal)
    return () => ends.abort()
  }, [opened])
  const log = useStore(opened.store)
  return useMemo(() => ({ ...log, loadEarlier: opened.loadEarlier }), [log, opened])
}
