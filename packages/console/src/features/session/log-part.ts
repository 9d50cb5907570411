/** A part of the log without a gap, and how parts are read. */
import { api, dataOf } from '../../lib/api/client.ts'
import type { SessionEvent } from '../../lib/api/types.ts'

export type EventPart = ReturnType<typeof createPart>

const seqOf = ({ seq }: SessionEvent): number => seq ?? Number.POSITIVE_INFINITY

export function createPart(from: readonly SessionEvent[] = []) {
  const events: SessionEvent[] = []
  const ids = new Set<string>()
  const part = {
    events: events as readonly SessionEvent[],
    has: (id: string): boolean => ids.has(id),
    /** The places of the first and the last event. */
    first: (): number | undefined => events[0]?.seq ?? undefined,
    last: (): number | undefined => events.at(-1)?.seq ?? undefined,
    /** Returns false for an event that the part has. */
    add(event: SessionEvent): boolean {
      if (ids.has(event.id)) return false
      ids.add(event.id)
      // Almost always the last place.
      let at = events.length
      while (at > 0 && seqOf(events[at - 1] ?? event) > seqOf(event)) at--
      events.splice(at, 0, event)
      return true
    },
  }
  for (const event of from) part.add(event)
  return part
}

/** The events of both parts, where one may end before the other begins. */
export const joinedEvents = (one: EventPart, other: EventPart): readonly SessionEvent[] => [
  ...one.events,
  ...other.events.filter(({ id }) => !one.has(id)),
]

type PageAsked = { order?: 'asc' | 'desc'; limit: number; after_seq?: number }

/** Light events of all kinds and threads: their places have no gap. */
async function readPage(
  id: string,
  query: PageAsked,
  signal?: AbortSignal,
): Promise<{ events: readonly SessionEvent[]; hasMore: boolean }> {
  const answer = await dataOf(
    api.GET('/v1/sessions/{id}/events', {
      params: {
        path: { id },
        query: { ...query, include: 'chunks', view: 'light', threads: 'all' },
      },
      ...(signal && { signal }),
    }),
  )
  // The same path answers a stream as text, to those who ask for one.
  if (typeof answer === 'string') throw new Error('The log came as a stream.')
  // The client's types leave out what is always null.
  return { events: answer.data as readonly SessionEvent[], hasMore: answer.next_page !== null }
}

/** The newest events, in the order of the log. */
export const readNewest = async (
  id: string,
  limit: number,
  signal?: AbortSignal,
): Promise<SessionEvent[]> =>
  (await readPage(id, { order: 'desc', limit }, signal)).events.toReversed()

/** All events from one place to another. A page that is long ends earlier: then the next one follows. */
export async function readSpan(id: string, from: number, to: number): Promise<SessionEvent[]> {
  const events: SessionEvent[] = []
  let after = from - 1
  while (after < to) {
    const page = await readPage(id, { limit: to - after, after_seq: after })
    events.push(...page.events)
    const last = events.at(-1)?.seq
    if (!page.hasMore || last === undefined || last === null) break
    after = last
  }
  return events
}

const mostPages = 5

/** What came behind a place; where it is more than a few pages, `isWhole` is false. */
export async function readBehind(
  id: string,
  after: number,
  signal: AbortSignal,
): Promise<{ events: readonly SessionEvent[]; isWhole: boolean }> {
  const events: SessionEvent[] = []
  for (let pages = 0; pages < mostPages; pages++) {
    const last = events.at(-1)?.seq ?? after
    const page = await readPage(id, { limit: 1_000, after_seq: last }, signal)
    events.push(...page.events)
    if (!page.hasMore) return { events, isWhole: true }
  }
  return { events, isWhole: false }
}
