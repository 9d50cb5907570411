/**
 * The log of one session in this page: its newest events and what comes by the stream, or a part far back, around an
 * event that somebody has named. A part that is read on until it meets the newest events becomes one with them.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { LiveSessionEvent, SessionEvent } from '../../lib/api/types.ts'
import { isAbsent } from '../../lib/failures.ts'
import type { FollowedValue } from '../../lib/store.ts'
import { createStore, useStore } from '../../lib/store.ts'
import { followAgain, onSession } from '../../lib/stream/tab-stream.ts'
import type { LiveParts } from './live-parts.ts'
import { liveParts } from './live-parts.ts'
import type { EventPart } from './log-part.ts'
import { createPart, joinedEvents, readBehind, readNewest, readSpan } from './log-part.ts'
import { readWaiting, wholeEventQuery } from './session.ts'

export type ShownLog = {
  /** One part of the log, of all threads, without a gap. Long texts of earlier events are their beginnings. */
  events: readonly SessionEvent[]
  /** All events that the page has: those of the shown part, and the newest ones. */
  known: readonly SessionEvent[]
  /** Messages that no turn has read yet. */
  waiting: readonly SessionEvent[]
  state: 'loading' | 'ready' | 'failed'
  error: Error | undefined
  /** Whether there are events before the first one here. */
  hasEarlier: boolean
  /** Whether the part that is shown ends before the newest events. */
  hasLater: boolean
  /** Events that have come since such a part was opened. */
  newer: number
}

type WaitingContent = Extract<SessionEvent, { type: 'user.message' }>['content']

/** How many events a page of the log has; an event far back is shown with half of them before it. */
const pageSize = 200
/** After a refusal, so much later: a server that is busy is not asked at once. */
const againMs = 5_000
const empty: ShownLog = {
  events: [],
  known: [],
  waiting: [],
  state: 'loading',
  error: undefined,
  hasEarlier: false,
  hasLater: false,
  newer: 0,
}

/** An event has a place in the log, or waits for one; anything else is live alone. */
const isKept = (data: unknown): data is SessionEvent =>
  typeof data === 'object' && data !== null && 'id' in data && 'created_at' in data

/** Collects news, and shows it once a frame. */
function createLog() {
  const store = createStore(empty)
  let newest = createPart()
  /** What is shown in place of the newest events, and how far these went when it was opened. */
  let far: { part: EventPart; newestSeq: number } | undefined
  const waiting = new Map<string, SessionEvent>()
  const live = liveParts()
  let frame: number | undefined
  /** What was shown last stays the same value where there is nothing new. */
  let hasMore = false

  const shown = (): EventPart => far?.part ?? newest

  function show(change: Partial<ShownLog> = {}): void {
    if (Object.keys(change).length > 0) return flush(change)
    frame ??= requestAnimationFrame(() => flush({}))
  }

  function flush(change: Partial<ShownLog>): void {
    if (frame !== undefined) cancelAnimationFrame(frame)
    frame = undefined
    live.show()
    const isChanged = hasMore || Object.keys(change).length > 0
    const more = hasMore && { ...shownEvents(), waiting: [...waiting.values()] }
    hasMore = false
    if (isChanged) store.set({ ...store.get(), ...more, ...change })
  }

  function shownEvents(): Partial<ShownLog> {
    if (!far) {
      const events = [...newest.events]
      const hasEarlier = (newest.first() ?? 1) > 1
      return { events, known: events, hasEarlier, hasLater: false, newer: 0 }
    }
    const { part, newestSeq } = far
    return {
      events: [...part.events],
      known: joinedEvents(part, newest),
      hasEarlier: (part.first() ?? 1) > 1,
      hasLater: true,
      newer: (newest.last() ?? 0) - newestSeq,
    }
  }

  function add(event: SessionEvent): void {
    if (event.seq === null) {
      if (event.type !== 'user.message') return
      waiting.set(event.id, event)
      hasMore = true
      return
    }
    if (waiting.delete(event.id)) hasMore = true
    if (!newest.add(event)) return
    hasMore = true
    live.end(event)
    if (event.type === 'system.user_message_cancelled') waiting.delete(event.message_id)
    if (event.type === 'system.user_message_changed') changeWaiting(event.message_id, event.content)
  }

  function changeWaiting(id: string, content: WaitingContent): void {
    const message = waiting.get(id)
    if (message?.type === 'user.message') waiting.set(id, { ...message, content })
  }

  /** A part that has met the newest events is shown as one with them. */
  function joinParts(): void {
    if (!far || (far.part.last() ?? 0) + 1 < (newest.first() ?? 0)) return
    for (const event of far.part.events) newest.add(event)
    far = undefined
  }

  return {
    store,
    live: live.stores,
    shown,
    newest: (): EventPart => newest,
    has: (event: string): boolean => shown().has(event) || waiting.has(event),
    isNewest: (event: string): boolean => newest.has(event) || waiting.has(event),
    addNewest(page: readonly SessionEvent[]): void {
      for (const event of page) add(event)
      show()
    },
    /** More of the part that is shown. */
    addShown(page: readonly SessionEvent[]): void {
      for (const event of page) shown().add(event)
      hasMore = true
      joinParts()
      show({ error: undefined, state: 'ready' })
    },
    /** What was missed is more than is read: the newest events begin anew. */
    forgetNewest(): void {
      newest = createPart()
      hasMore = true
    },
    /** Shows a part far back, or without one the newest events. */
    showPart(page: readonly SessionEvent[] | undefined): void {
      far = page && { part: createPart(page), newestSeq: newest.last() ?? 0 }
      hasMore = true
      joinParts()
      show({ error: undefined, state: 'ready' })
    },
    hear(event: LiveSessionEvent): void {
      live.hear(event, newest.last() ?? 0)
      show()
    },
    /** Messages that waited before the page was opened. */
    addWaiting(messages: readonly SessionEvent[]): void {
      for (const message of messages) if (!newest.has(message.id)) waiting.set(message.id, message)
      hasMore = true
      show()
    },
    ready: () => show({ state: 'ready', error: undefined }),
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

/** The place of an event in the log; undefined where the session has no such event. */
type FindSeq = (event: string) => Promise<number | undefined>

type LogReading = {
  loadEarlier: () => void
  loadLater: () => void
  /** Leaves a part far back. */
  showNewest: () => void
}

type OpenLog = LogReading &
  LiveParts & {
    store: FollowedValue<ShownLog>
    start: (signal: AbortSignal) => void
    showEvent: (event: string) => void
  }

/** `first`: the event that the page was opened for. */
function openLog(id: string, findSeq: FindSeq, first: string | undefined): OpenLog {
  const log = createLog()
  let isLoading = false
  let wanted: string | undefined

  const fail = (error: unknown) =>
    log.fail(error instanceof Error ? error : new Error(String(error)))

  /** One reading at a time: what was asked for twice is read once. */
  const alone = (read: () => Promise<void>) => (): void => {
    if (isLoading) return
    isLoading = true
    void read()
      .catch(fail)
      .finally(() => {
        isLoading = false
      })
  }

  async function showAround(event: string, found: Promise<number | undefined>): Promise<void> {
    const seq = await found
    if (seq === undefined || wanted !== event || log.has(event)) return
    const page = await readSpan(id, Math.max(1, seq - pageSize / 2), seq + pageSize / 2)
    // Somebody may have chosen another event meanwhile.
    if (wanted === event) log.showPart(page)
  }

  async function open(signal: AbortSignal): Promise<void> {
    wanted = first
    const place = first === undefined ? undefined : findSeq(first)
    // Its failure is told where it is awaited.
    place?.catch(() => {})
    const page = await readNewest(id, pageSize, signal)
    log.addNewest(page)
    if (first !== undefined && place && !log.isNewest(first)) await showAround(first, place)
    log.ready()
  }

  const follow = (signal: AbortSignal) =>
    onSession(
      id,
      {
        last: () => log.newest().last() ?? 0,
        onData(data) {
          if (data.type === 'stream.reset') void again(signal)
          else if (isKept(data)) log.addNewest([data])
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
      const { events, isWhole } = await readBehind(id, log.newest().last() ?? 0, signal)
      if (isWhole) log.addNewest(events)
      else {
        const page = await readNewest(id, pageSize, signal)
        log.forgetNewest()
        log.addNewest(page)
      }
      log.ready()
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

  return {
    store: log.store,
    ...log.live,
    start: (signal) =>
      void open(signal)
        .then(() => follow(signal))
        .then(() => loadWaiting(signal))
        .catch((error: unknown) => {
          if (!signal.aborted) fail(error)
        }),
    showEvent(event) {
      wanted = event
      if (log.store.get().state === 'loading' || log.has(event)) return
      if (log.isNewest(event)) log.showPart(undefined)
      else void showAround(event, findSeq(event)).catch(fail)
    },
    loadEarlier: alone(async () => {
      const before = log.shown().first() ?? 1
      if (before > 1) log.addShown(await readSpan(id, Math.max(1, before - pageSize), before - 1))
    }),
    loadLater: alone(async () => {
      const last = log.shown().last() ?? 0
      log.addShown(await readSpan(id, last + 1, last + pageSize))
    }),
    showNewest: () => log.showPart(undefined),
  }
}

export type FollowedLog = ShownLog & LogReading & LiveParts

/** The log of a session while the page shows it: where an event is named, the part of the log around it. */
export function useSessionLog(id: string, event?: string): FollowedLog {
  const client = useQueryClient()
  const opened = useMemo(
    () =>
      openLog(
        id,
        async (wanted) => {
          try {
            return (await client.fetchQuery(wholeEventQuery(id, wanted))).seq ?? undefined
          } catch (error) {
            if (isAbsent(error)) return undefined
            throw error
          }
        },
        event,
      ),
    // Another event is shown by the log that is open.
    // oxlint-disable-next-line react/exhaustive-deps
    [id, client],
  )
  useEffect(() => {
    const ends = new AbortController()
    opened.start(ends.signal)
    return () => ends.abort()
  }, [opened])
  useEffect(() => {
    if (event !== undefined) opened.showEvent(event)
  }, [opened, event])
  const log = useStore(opened.store)
  return useMemo(() => {
    const { live, outputs, loadEarlier, loadLater, showNewest } = opened
    return { ...log, live, outputs, loadEarlier, loadLater, showNewest }
  }, [log, opened])
}
