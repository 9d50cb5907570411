/** Messages on the topic of a session, and the notifications that start drains. A unit says them of what it changes. */
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { OutputPiece } from '@steward/sandbox/output/piece.ts'
import { z } from 'zod'
import type { Bus, BusMessage } from '../../ground/bus/bus.ts'
import { isMissed, missedMessage } from '../../ground/bus/bus.ts'
import type { Notifying } from '../../ground/core/notice.ts'
import type { StoredEvent } from './log.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

export type SessionNotification =
  /** The log has more events. */
  | { kind: 'new_events' }
  /** The inbox may hold an interrupt: the runner that holds the session must look. */
  | { kind: 'interrupt' }

/** Messages were lost: any notification, or pieces of frames. */
export type MissedNotice = { kind: 'missed' }

/** What the running command of a call has written. */
export type CommandOutput = OutputPiece & { call: string }
type OutputWords = { kind: 'output'; output: CommandOutput }

/** Live words are never stored. They go only to processes that have a reader of the session. */
export type LiveWords =
  | { kind: 'frames'; frames: LiveFrame[] }
  | { kind: 'queued'; events: StoredEvent[] }
  | { kind: 'promoted'; ids: string[] }
  | OutputWords

const Id = z.string()
const Of = z.enum(['agent.message', 'agent.thinking', 'agent.tool_use_input'])
const Frame = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), of: Of, id: Id, name: z.string().optional() }),
  z.object({ kind: z.literal('chunk'), of: Of, id: Id, delta: z.string() }),
  z.object({ kind: z.literal('end'), of: Of, id: Id }),
  z.object({ kind: z.literal('first_token'), id: Id, ms: z.number() }),
])
const Waiting = z.object({
  id: Id,
  type: z.string(),
  seq: z.int().nullable(),
  created_at: z.string(),
  processed_at: z.string().nullable(),
  data: z.string(),
})
const Size = z.number().nonnegative()
const Output = z.object({
  call: Id,
  text: z.string(),
  offset: Size,
  newIndex: Size,
  newOffset: Size,
  end: Size,
  total: Size,
  quietMs: Size,
})
const Words = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('frames'), frames: z.array(Frame) }),
  z.object({ kind: z.literal('queued'), events: z.array(Waiting) }),
  z.object({ kind: z.literal('promoted'), ids: z.array(Id) }),
  z.object({ kind: z.literal('output'), output: Output }),
])

/** Messages that were checked already: each is checked once for all readers. Messages of this process need no check. */
const sound = new WeakSet<BusMessage>()

function isSound(message: BusMessage): boolean {
  if (sound.has(message)) return true
  if (!Words.safeParse(message).success) return false
  sound.add(message)
  return true
}

const Work = z.object({ tenant: z.string(), session: z.string() })
export type WorkNotice = z.infer<typeof Work>

export const newEvents = { kind: 'new_events' } as const

/** `id`: of a session, or of a child thread, whose live words have a topic of their own. */
const topicOf = (id: string): string => `session:${id}`

/** Asks the runner of a session to look for an interrupt. */
export const notifyInterrupt = (tx: Notifying, sessionId: string): void =>
  tx.afterCommit({ topic: topicOf(sessionId), message: { kind: 'interrupt' } })

/** Tells readers which messages wait, or wait no longer. */
export function notifyReaders(
  tx: Notifying,
  sessionId: string,
  words: Exclude<LiveWords, { kind: 'frames' | 'output' }>,
): void {
  sound.add(words)
  tx.afterCommit({ topic: topicOf(sessionId), message: words, isLive: true })
}

/** Sends pieces of an answer to readers of a session or a thread. They are never stored, so that no commit is awaited. */
export function sendFrames(bus: Bus, id: string, frames: LiveFrame[]): void {
  const words: LiveWords = { kind: 'frames', frames }
  sound.add(words)
  bus.live.publish(topicOf(id), words)
}

/** The output of commands has a topic of its own, so that it is read of a sandbox only while somebody wants it. */
const outputTopicOf = (id: string): string => `output:${id}`

/** `id`: of a session, or of a child thread. */
export const isOutputWanted = (bus: Bus, id: string): boolean =>
  bus.live.mayBeHeard(outputTopicOf(id))

export function sendOutput(bus: Bus, id: string, output: CommandOutput): void {
  const words: OutputWords = { kind: 'output', output }
  sound.add(words)
  bus.live.publish(outputTopicOf(id), words)
}

/** Makes this process a reader of what commands of the session write. A lost piece shows by the offset of the next. */
export const listenToOutput = (
  bus: Bus,
  id: string,
  listen: (words: OutputWords) => void,
): (() => void) =>
  bus.live.subscribe(outputTopicOf(id), (message) => {
    if (message['kind'] === 'output' && isSound(message)) listen(message as OutputWords)
  })

/** Tells readers, and those who follow the workspace, that the log of a session has more events. */
export const announceChange = (tx: Notifying, tenant: string, sessionId: string): void =>
  tx.afterCommit({ topic: topicOf(sessionId), message: { ...newEvents, tenant } })

/** What a change of the row or the inbox sends: no event was appended, so that readers of the log hear nothing. */
const rowChange = 'row_changed'

/** Tells those who follow the workspace that the row or the inbox of a session has changed, and its log has not. */
export const announceRowChange = (tx: Notifying, tenant: string, sessionId: string): void =>
  tx.afterCommit({ topic: topicOf(sessionId), message: { kind: rowChange, tenant } })

/** Hears which sessions of all workspaces change, in every process. */
export const listenToChanges = (
  bus: Bus,
  listen: (change: SessionRef | typeof missedMessage) => void,
): (() => void) =>
  bus.hearEach(topicOf(''), (topic, message) => {
    if (isMissed(message)) return listen(missedMessage)
    const { tenant } = message
    if (typeof tenant === 'string') listen({ tenant, session: topic.slice(topicOf('').length) })
  })

export const listenToSession = (
  bus: Bus,
  sessionId: string,
  listen: (notification: SessionNotification | MissedNotice) => void,
): (() => void) =>
  bus.subscribe(topicOf(sessionId), (message) => {
    if (isMissed(message)) listen({ kind: 'missed' })
    else if (message['kind'] !== rowChange) listen(message as SessionNotification)
  })

/**
 * Makes this process a reader of the session, so that other processes send their live words here. A message that cannot
 * be read counts as lost: a NATS server may carry foreign messages, and a process of another version may send a kind
 * that this one does not know.
 */
export const listenToLiveWords = (
  bus: Bus,
  sessionId: string,
  listen: (words: LiveWords | MissedNotice) => void,
): (() => void) =>
  bus.live.subscribe(topicOf(sessionId), (message) =>
    listen(isSound(message) ? (message as LiveWords) : { kind: 'missed' }),
  )

/** Notifies the runners of all processes that a session has work. */
export const notifyRunners = (tx: Notifying, work: WorkNotice): void =>
  tx.afterCommit({ topic: 'work', message: work })

/** Notifies the wakeup jobs that a wakeup may be due sooner than all that they know. */
export const notifyWakeups = (tx: Notifying): void =>
  tx.afterCommit({ topic: 'wakeups', message: {} })

export const listenForWakeups = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe('wakeups', listen)

export const listenForWork = (bus: Bus, listen: (work: WorkNotice) => void): (() => void) =>
  bus.subscribe('work', (message) => {
    const work = Work.safeParse(message)
    if (work.success) listen(work.data)
  })
