import type { Dialect } from '@steward/protocol/dialects.ts'
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { eventLoop } from '../../ground/core/event-loop.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { EventRow, StoredEvent } from './log.ts'
import { readPage } from './log.ts'
import type { ThreadRef } from './place.ts'
import type { Follower } from './lookout.ts'
import { watchHead } from './lookout.ts'
import type { LiveWords, MissedNotice } from './topics.ts'
import { listenToSession, listenToLiveWords, newEvents } from './topics.ts'

/** Kept events come in order and all of them; what is live only may be missing. */
export type TailItem =
  | { kind: 'kept'; row: EventRow }
  | { kind: 'frame'; frame: LiveFrame }
  | { kind: 'queued'; event: StoredEvent }
  | { kind: 'promoted'; id: string }

/** Live words that may wait for a slow reader before they are dropped, and their length in characters. */
const mostWaiting = 1_000
const longestWaiting = 1024 * 1024
/** Messages whose admission a reader remembers. */
const admittedRemembered = 16
/** What one reader holds of the log at a time, and what the process does without a break for a reader. */
export const tailPage = { limit: 64, bytes: 128 * 1024 }

type TailNotice = { kind: 'new_events' } | MissedNotice | LiveWords
const isLive = (word: TailNotice): word is LiveWords =>
  word.kind !== 'new_events' && word.kind !== 'missed'

type TailSource = { read: Reads; bus: Bus }
type TailPage = { after: number; limit: number; bytes: number }
type RowReader = (page: TailPage) => Promise<{ rows: EventRow[]; more: boolean }>

/**
 * `thread`: the child thread to follow; undefined: the session, as its primary thread. `readRows` reads other rows than the
 * stream of `/v1` has.
 */
type TailOptions = {
  after: number
  extensions: boolean
  dialect: Dialect
  signal: AbortSignal
  readRows?: RowReader
} & ThreadRef
const none = new Set<string>()
/** What one reader has before them. */
type TailReader = Follower & {
  tenant: string
  readRows: RowReader
  signal: AbortSignal
  heard: TailNotice[]
  /** Characters of live words in `heard`. */
  length: number
  /** Frames that were dropped because the reader is slow. As most readers have none, they share an empty set. */
  shed: Set<string>
  /** Frames that began since words were lost: others may lack a piece. Undefined while none were. */
  whole: Set<string> | undefined
  /** Goes on with what was heard. */
  resume: () => void
  leave: () => void
  /** Messages that are in the log or promoted, the last few: a word that one of them waits comes too late. */
  admitted: string[]
}

/**
 * Everything after `after`, then whatever comes, until aborted. The bus only notifies: what is kept is always read
 * from the log, so there is no seam between past and present, nothing twice and nothing lost. It listens from the
 * moment of the call; whoever calls must iterate, or return, what it gives.
 */
export function tailLog(
  source: TailSource,
  tenant: string,
  sessionId: string,
  { after, signal, thread, readRows, ...shown }: TailOptions,
): AsyncGenerator<TailItem> {
  const reading: TailReader = {
    tenant,
    sessionId,
    readRows:
      readRows ??
      ((range) => readPage(source.read, tenant, sessionId, { ...shown, thread, ...range })),
    signal,
    heard: [newEvents],
    length: 0,
    shed: none,
    whole: undefined,
    seen: after,
    wokenFor: 0,
    wake: () => hearNotice(reading, newEvents),
    resume: () => {},
    leave: () => {},
    admitted: [],
  }
  const quiet = listenToSession(source.bus, sessionId, ({ kind }) => {
    if (kind !== 'interrupt') hearNotice(reading, newEvents)
  })
  const leaveWords = listenToLiveWords(source.bus, thread ?? sessionId, (tailItems) =>
    hearNotice(reading, tailItems),
  )
  const unwatch = watchHead(source.read, reading)
  const stop = () => reading.resume()
  signal.addEventListener('abort', stop, { once: true })
  reading.leave = () => {
    signal.removeEventListener('abort', stop)
    unwatch()
    quiet()
    leaveWords()
  }
  const given = words(reading)
  const end = given.return.bind(given)
  // A generator that was never begun runs no `finally`.
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
  if (word.kind === 'promoted') noteAdmitted(reading, word.ids)
  if (word.kind === 'new_events' || word.kind === 'missed') {
    const last = heard.at(-1)?.kind
    if (last === 'new_events' && word.kind === 'missed') heard.pop()
    if (last !== 'missed' && last !== word.kind) heard.push(word)
  } else {
    const length = lengthOf(word)
    // Whoever keeps up gets a word of any length.
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

function noteShed(reading: TailReader, frames: readonly LiveFrame[]): void {
  if (reading.shed === none) reading.shed = new Set()
  for (const { id } of frames) reading.shed.add(id)
}

function noteAdmitted({ admitted }: TailReader, ids: readonly string[]): void {
  admitted.push(...ids)
  admitted.splice(0, admitted.length - admittedRemembered)
}

/** That a message waits may be told by another process than the one that admits it, and arrive later. */
function withoutLate(word: TailNotice, { admitted }: TailReader): TailNotice | undefined {
  if (word.kind !== 'queued' || admitted.length === 0) return word
  const [, events] = splitList(word.events, ({ id }) => admitted.includes(id))
  return events && { ...word, events }
}

/** The parts of a word are together as long as the word. */
function lengthOf(word: LiveWords): number {
  switch (word.kind) {
    case 'frames':
      return sumOf(word.frames, (frame) => 100 + ('delta' in frame ? frame.delta.length : 0))
    case 'queued':
      return sumOf(word.events, ({ data }) => 200 + data.length)
    case 'promoted':
      return 100 * word.ids.length
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
      else if (next.kind === 'missed') {
        reading.whole = new Set()
        yield* newRows(reading)
      } else {
        reading.length -= lengthOf(next)
        yield* itemsOf(next, reading)
      }
    }
  } finally {
    reading.leave()
  }
}

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
      for (const word of wordsOn(row.id, reading)) yield* itemsOf(word, reading)
      reading.seen = row.seq
      reading.shed.delete(row.id)
      if (row.type.startsWith('user.')) noteAdmitted(reading, [row.id])
      yield { kind: 'kept', row }
    }
    if (!more || signal.aborted) return
    await eventLoop.wait(tenant)
  }
}

/** A database that is away ends no stream: the next notification or look at the head goes on from where it stood. */
function undefinedWhenAway(error: unknown): undefined {
  if (error instanceof StorageError) return undefined
  throw error
}

/**
 * What waits of live words about an event, which came before it was kept: a row may be read for an earlier ring than
 * its own, and would overtake them.
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
    // Pieces behind a gap would not join to what was shown before it.
    if (!isLacking || about.kind !== 'frames') found.push(about)
  }
  if (hasWords) reading.heard.splice(0, reading.heard.length, ...left)
  return found
}

/** The part that is about the event, and the rest. Words are shared by all readers, and stay as they are. */
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

/** What lost a piece says no more until its event is whole: shown pieces always join to a prefix of it. */
function* itemsOf(word: LiveWords, reading: TailReader): Generator<TailItem> {
  if (word.kind === 'frames') {
    for (const frame of word.frames) {
      const { shed, whole } = reading
      if (frame.kind === 'start') whole?.add(frame.id)
      const isWhole = !shed.has(frame.id) && (!whole || whole.has(frame.id))
      if (isWhole || frame.kind === 'end') yield { kind: 'frame', frame }
      if (frame.kind === 'end') {
        shed.delete(frame.id)
        whole?.delete(frame.id)
      }
    }
  } else if (word.kind === 'queued')
    for (const event of word.events) yield { kind: 'queued', event }
  else if (word.kind === 'promoted') for (const id of word.ids) yield { kind: 'promoted', id }
}
