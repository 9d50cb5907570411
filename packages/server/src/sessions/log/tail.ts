import type { Dialect } from '@steward/protocol/dialects.ts'
import type { WaitingOn } from '@steward/protocol/waiting-on.ts'
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { eventLoop } from '../../ground/core/fairness/event-loop.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { EventRow, StoredEvent } from './log.ts'
import { readLogPage } from './log.ts'
import type { ThreadOption } from '../../ground/core/refs.ts'
import type { Follower } from './lookout.ts'
import { watchHead } from './lookout.ts'
import type { CommandOutput, LiveWords, MissedNotice } from './topics.ts'
import { listenToSession, listenToLiveWords, listenToOutput, newEvents } from './topics.ts'

/** Stored events come in order and completely; live words may be missing. */
export type TailItem =
  | { kind: 'kept'; row: EventRow }
  /** `thread`: the child thread that speaks, in a stream of several threads. */
  | { kind: 'frame'; frame: LiveFrame & ThreadOption }
  | { kind: 'queued'; event: StoredEvent }
  | { kind: 'promoted'; id: string }
  | { kind: 'output'; output: CommandOutput & ThreadOption }
  | WaitingWord

/**
 * Limits of the live words that wait for a slow reader: their number, and their characters. Further ones are dropped.
 */
const mostWaiting = 1_000
const longestWaiting = 1024 * 1024
/** Number of messages whose admission a reader remembers. */
const admittedRemembered = 16
/** The part of the log that a reader loads at a time, and after which the event loop gets a turn. */
export const tailPage = { limit: 64, bytes: 128 * 1024 }

/** What the session waits for now. A newer one takes the place of one that a slow reader has not read. */
export type WaitingWord = { kind: 'waiting'; waiting: WaitingOn }
export type HeardWord = LiveWords | WaitingWord | MissedNotice

type TailNotice = { kind: 'new_events' } | HeardWord
const isLive = (word: TailNotice): word is LiveWords =>
  word.kind !== 'new_events' && word.kind !== 'missed' && word.kind !== 'waiting'

type TailSource = { read: Reads; bus: Bus }
export type TailPage = { after: number; limit: number; bytes: number }
export type RowReader = (page: TailPage) => Promise<{ rows: EventRow[]; more: boolean }>

/**
 * `thread`: the child thread to follow; undefined: the stream of the session. `readRows` replaces the rows that the
 * stream of `/v1` reads, by rows without starts of requests.
 */
type TailOptions = {
  after: number
  extensions: boolean
  dialect: Dialect
  signal: AbortSignal
  readRows?: RowReader
  /** Replaces the live words of the session or the thread, and may add others. The returned function stops them. */
  live?: ((hear: (words: HeardWord) => void) => () => void) | undefined
  /** Adds what commands write while they run. */
  outputs?: boolean
} & ThreadOption
const none = new Set<string>()
/** The state of one reader. */
type TailReader = Follower & {
  tenant: string
  readRows: RowReader
  signal: AbortSignal
  heard: TailNotice[]
  /** Characters of live words in `heard`. */
  length: number
  /** Ids of events whose frames were dropped because the reader is slow. Readers without any share one empty set. */
  shed: Set<string>
  /**
   * Ids of events whose frames began after words were lost; other frames may lack a piece. Undefined before the first
   * loss.
   */
  whole: Set<string> | undefined
  /** Id of the newest `span.model_request_start` that was read. Null: the rows have none. */
  request: string | undefined | null
  /** Continues the generator after `heard` has grown. */
  resume: () => void
  leave: () => void
  /** Ids of the last messages that were stored or promoted. A `queued` word about one of them comes too late. */
  admitted: string[]
}

/**
 * Yields all events after `after`, then new events and live words, until `signal` aborts. Events are always read from
 * the log, and the bus only notifies; therefore no event is missing or repeated between past and present. Listens from
 * the call on: the caller must iterate or return the generator.
 */
export function tailLog(
  source: TailSource,
  tenant: string,
  sessionId: string,
  { after, signal, thread, readRows, live, outputs = false, ...shown }: TailOptions,
): AsyncGenerator<TailItem> {
  const reading: TailReader = {
    tenant,
    sessionId,
    readRows:
      readRows ??
      ((range) => readLogPage(source.read, tenant, sessionId, { ...shown, thread, ...range })),
    signal,
    heard: [newEvents],
    length: 0,
    shed: none,
    whole: undefined,
    seen: after,
    wokenFor: 0,
    request: readRows && !live ? null : undefined,
    wake: () => hearNotice(reading, newEvents),
    resume: () => {},
    leave: () => {},
    admitted: [],
  }
  const quiet = listenToSession(source.bus, sessionId, ({ kind }) => {
    if (kind !== 'interrupt') hearNotice(reading, newEvents)
  })
  const hear = (word: HeardWord) => hearNotice(reading, word)
  const leaveWords = live?.(hear) ?? listenToLiveWords(source.bus, thread ?? sessionId, hear)
  const leaveOutput = outputs ? listenToOutput(source.bus, thread ?? sessionId, hear) : () => {}
  const unwatch = watchHead(source.read, reading)
  const stop = () => reading.resume()
  signal.addEventListener('abort', stop, { once: true })
  reading.leave = () => {
    signal.removeEventListener('abort', stop)
    unwatch()
    quiet()
    leaveWords()
    leaveOutput()
  }
  const given = words(reading)
  const end = given.return.bind(given)
  // `return` on a generator that never started does not run its `finally`.
  given.return = (value) => {
    reading.leave()
    return end(value)
  }
  return given
}

function hearNotice(reading: TailReader, given: TailNotice): void {
  const { heard } = reading
  const word = withoutLate(given, reading)
  if (!word) return
  if (word.kind === 'waiting') return hearWaiting(reading, word)
  if (word.kind === 'promoted') noteAdmitted(reading, word.ids)
  if (word.kind === 'new_events' || word.kind === 'missed') {
    const last = heard.at(-1)?.kind
    if (last === 'new_events' && word.kind === 'missed') heard.pop()
    if (last !== 'missed' && last !== word.kind) heard.push(word)
  } else {
    const length = lengthOf(word)
    // A reader that keeps up gets a word of any length.
    if (
      heard.length === 0 ||
      (heard.length < mostWaiting && reading.length + length <= longestWaiting)
    ) {
      heard.push(word)
      reading.length += length
    } else if (word.kind === 'frames') noteShed(reading, word.frames)
  }
  reading.resume()
}

function hearWaiting({ heard, resume }: TailReader, word: WaitingWord): void {
  const older = heard.findIndex(({ kind }) => kind === 'waiting')
  if (older >= 0) heard.splice(older, 1)
  heard.push(word)
  resume()
}

function noteShed(reading: TailReader, frames: readonly LiveFrame[]): void {
  if (reading.shed === none) reading.shed = new Set()
  for (const { id, kind } of frames) if (kind !== 'first_token') reading.shed.add(id)
}

function noteAdmitted({ admitted }: TailReader, ids: readonly string[]): void {
  admitted.push(...ids)
  admitted.splice(0, admitted.length - admittedRemembered)
}

/** Removes `queued` words about admitted messages: another process may send them, and they may arrive later. */
function withoutLate(word: TailNotice, { admitted }: TailReader): TailNotice | undefined {
  if (word.kind !== 'queued' || admitted.length === 0) return word
  const [, events] = splitList(word.events, ({ id }) => admitted.includes(id))
  return events && { ...word, events }
}

/** Characters of a word. The lengths of its parts add up to the length of the word. */
function lengthOf(word: LiveWords): number {
  switch (word.kind) {
    case 'frames':
      return sumOf(word.frames, (frame) => 100 + ('delta' in frame ? frame.delta.length : 0))
    case 'queued':
      return sumOf(word.events, ({ data }) => 200 + data.length)
    case 'promoted':
      return 100 * word.ids.length
    case 'output':
      return 300 + word.output.text.length
  }
}

const sumOf = <T>(all: readonly T[], lengthOfOne: (each: T) => number): number => {
  let sum = 0
  for (const each of all) sum += lengthOfOne(each)
  return sum
}

async function* words(reading: TailReader): AsyncGenerator<TailItem> {
  const { signal, heard } = reading
  try {
    while (!signal.aborted) {
      const next = heard.shift()
      if (!next) await new Promise<void>((resolve) => (reading.resume = resolve))
      else if (next.kind === 'new_events') yield* newRows(reading)
      else if (next.kind === 'waiting') yield next
      else if (next.kind === 'missed') {
        reading.whole = new Set()
        yield* newRows(reading)
      } else {
        reading.length -= lengthOf(next)
        if (isEarly(next, reading)) yield* newRows(reading)
        yield* itemsOf(next, reading)
      }
    }
  } finally {
    reading.leave()
  }
}

/**
 * True when the answer to a request begins whose start was not read: words of another process may overtake its
 * notification.
 */
const isEarly = (word: LiveWords, { request }: TailReader): boolean =>
  request !== null &&
  word.kind === 'frames' &&
  word.frames.some(({ kind, id }) => kind === 'first_token' && id !== request)

async function* newRows(reading: TailReader): AsyncGenerator<TailItem> {
  const { tenant, readRows, signal } = reading
  for (;;) {
    const got = await readRows({ after: reading.seen, ...tailPage }).catch(undefinedWhenAway)
    if (!got) {
      reading.wokenFor = 0
      return
    }
    const { rows, more } = got
    for (const row of rows) {
      const isRequest = row.type === 'span.model_request_start'
      if (isRequest) reading.request = row.id
      else for (const word of wordsOn(row.id, reading)) yield* itemsOf(word, reading)
      reading.seen = row.seq
      reading.shed.delete(row.id)
      if (row.type.startsWith('user.')) noteAdmitted(reading, [row.id])
      yield { kind: 'kept', row }
      // The words on a start, unlike those on other events, come after it.
      if (isRequest) for (const word of wordsOn(row.id, reading)) yield* itemsOf(word, reading)
    }
    if (!more || signal.aborted) return
    await eventLoop.wait(tenant)
  }
}

/** A database failure does not end the stream: it continues at the next notification or comparison with the head. */
function undefinedWhenAway(error: unknown): undefined {
  if (error instanceof StorageError) return undefined
  throw error
}

/**
 * Takes the waiting live words of an event. They were sent before the event was stored, but an earlier notification may
 * already have caused its row to be read, which must not overtake them.
 */
function wordsOn(id: string, reading: TailReader): LiveWords[] {
  const found: LiveWords[] = []
  const left: TailNotice[] = []
  let isLacking = false
  let hasWords = false
  for (const word of reading.heard) {
    if (word.kind === 'missed') isLacking = true
    const [about, others] = isLive(word) ? splitWords(word, id) : [undefined, word]
    if (others) left.push(others)
    if (!about) continue
    hasWords = true
    reading.length -= lengthOf(about)
    // Pieces after a gap would not join to the pieces before it.
    if (!isLacking || about.kind !== 'frames') found.push(about)
  }
  if (hasWords) reading.heard.splice(0, reading.heard.length, ...left)
  return found
}

/** Splits a word into the part about the event and the rest. All readers share the word, so it is not changed. */
function splitWords(
  word: LiveWords,
  id: string,
): [about: LiveWords | undefined, others: LiveWords | undefined] {
  switch (word.kind) {
    case 'frames': {
      const [about, others] = splitList(word.frames, (frame) => frame.id === id)
      return [about && { ...word, frames: about }, others && { ...word, frames: others }]
    }
    case 'queued': {
      const [about, others] = splitList(word.events, (event) => event.id === id)
      return [about && { ...word, events: about }, others && { ...word, events: others }]
    }
    case 'promoted': {
      const [about, others] = splitList(word.ids, (each) => each === id)
      return [about && { ...word, ids: about }, others && { ...word, ids: others }]
    }
    case 'output':
      return [undefined, word]
  }
}

function splitList<T>(
  all: T[],
  fits: (each: T) => boolean,
): [fitting: T[] | undefined, others: T[] | undefined] {
  if (!all.some(fits)) return [undefined, all]
  const others = all.filter((each) => !fits(each))
  return [all.filter(fits), others.length > 0 ? others : undefined]
}

function* itemsOf(word: LiveWords, reading: TailReader): Generator<TailItem> {
  if (word.kind === 'queued') for (const event of word.events) yield { kind: 'queued', event }
  else if (word.kind === 'promoted') for (const id of word.ids) yield { kind: 'promoted', id }
  else if (word.kind === 'output') yield { kind: 'output', output: word.output }
  else for (const frame of word.frames) if (isShown(frame, reading)) yield { kind: 'frame', frame }
}

/**
 * After a lost piece the stream shows no more pieces of that event, so that shown pieces always form a prefix of its
 * text.
 */
function isShown(frame: LiveFrame, { request, shed, whole }: TailReader): boolean {
  const { kind, id } = frame
  if (kind === 'first_token') return id === request
  if (kind === 'start') whole?.add(id)
  if (kind !== 'end') return !shed.has(id) && (!whole || whole.has(id))
  shed.delete(id)
  whole?.delete(id)
  return true
}
