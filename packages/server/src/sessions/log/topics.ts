/** What rooms say to each other on a session's topic, and the notifications that start drains. */
import type { LiveFrame } from '@steward/harness/turn.ts'
import { z } from 'zod'
import type { Bus, BusMessage } from '../../ground/bus/bus.ts'
import { isMissed } from '../../ground/bus/bus.ts'
import type { StoredEvent } from './log.ts'

export type SessionNotification =
  /** The log has more events. */
  | { kind: 'new_events' }
  /** Something for the runner that holds the session: look at the inbox. */
  | { kind: 'interrupt' }

/** Words were lost: of notifications, any may be among them; of live words, frames may lack pieces. */
export type MissedNotice = { kind: 'missed' }

/** Nothing of these is kept. They go only to processes that have a reader of the session. */
export type LiveWords =
  | { kind: 'frames'; frames: LiveFrame[] }
  | { kind: 'queued'; events: StoredEvent[] }
  | { kind: 'promoted'; ids: string[] }

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
const Words = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('frames'), frames: z.array(Frame) }),
  z.object({ kind: z.literal('queued'), events: z.array(Waiting) }),
  z.object({ kind: z.literal('promoted'), ids: z.array(Id) }),
])

/** Each message is looked at once, however many readers it has; those of this process never. */
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

/** Live words of a child thread have a topic of their own, by its id. */
const topicOf = (id: string): string => `session:${id}`

export const notifySession = (
  bus: Bus,
  sessionId: string,
  message: SessionNotification | LiveWords,
): void => {
  const isLive = message.kind !== 'new_events' && message.kind !== 'interrupt'
  const channel = isLive ? bus.live : bus
  if (isLive) sound.add(message)
  channel.publish(topicOf(sessionId), message)
}

export const listenToSession = (
  bus: Bus,
  sessionId: string,
  listen: (notification: SessionNotification | MissedNotice) => void,
): (() => void) =>
  bus.subscribe(topicOf(sessionId), (message) =>
    listen(isMissed(message) ? { kind: 'missed' } : (message as SessionNotification)),
  )

/**
 * Makes this process a reader of the session, so that other processes send their live words here. A NATS server may carry what is none of
 * ours, and a process of another version may say what this one does not know: what cannot be read counts as lost.
 */
export const listenToLiveWords = (
  bus: Bus,
  sessionId: string,
  listen: (words: LiveWords | MissedNotice) => void,
): (() => void) =>
  bus.live.subscribe(topicOf(sessionId), (message) =>
    listen(isSound(message) ? (message as LiveWords) : { kind: 'missed' }),
  )

/** Tells runners that a session has something to do. */
export const notifyRunners = (bus: Bus, work: WorkNotice): void => bus.publish('work', work)

/** A wakeup may be due sooner than any that was known. */
export const notifyWakeups = (bus: Bus): void => bus.publish('wakeups', {})

export const listenForWakeups = (bus: Bus, listen: () => void): (() => void) =>
  bus.subscribe('wakeups', listen)

export const listenForWork = (bus: Bus, listen: (work: WorkNotice) => void): (() => void) =>
  bus.subscribe('work', (message) => {
    const work = Work.safeParse(message)
    if (work.success) listen(work.data)
  })
