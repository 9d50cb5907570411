/** Notifications between rooms: those on a session's topic, and those that start drains. */
import type { LiveFrame } from '@steward/harness/turn.ts'
import { z } from 'zod'
import type { Bus } from '../../ground/bus/bus.ts'
import { isMissed } from '../../ground/bus/bus.ts'
import type { StoredEvent } from './log.ts'

/** `new_events`: the log has more events. The other kinds are live only. */
export type TopicMessage =
  | { kind: 'new_events' }
  /** Some of these words were lost: the log has more, and frames may lack pieces. */
  | { kind: 'missed' }
  | { kind: 'frames'; frames: LiveFrame[] }
  | { kind: 'queued'; events: StoredEvent[] }
  | { kind: 'promoted'; ids: string[] }
  /** Something for the runner that holds the session: look at the inbox. */
  | { kind: 'interrupt' }

const Work = z.object({ tenant: z.string(), session: z.string() })
export type WorkNotice = z.infer<typeof Work>

export const newEvents: TopicMessage = { kind: 'new_events' }

export const notify = (bus: Bus, sessionId: string, heard: TopicMessage): void =>
  bus.publish(`session:${sessionId}`, heard)

export const listenTo = (
  bus: Bus,
  sessionId: string,
  listen: (heard: TopicMessage) => void,
): (() => void) =>
  bus.subscribe(`session:${sessionId}`, (message) =>
    listen(isMissed(message) ? { kind: 'missed' } : (message as TopicMessage)),
  )

/** Tells runners that a session has something to do. */
export const notifyRunners = (bus: Bus, work: WorkNotice): void => bus.publish('work', work)

export const listenForWork = (bus: Bus, listen: (work: WorkNotice) => void): (() => void) =>
  bus.subscribe('work', (message) => {
    const work = Work.safeParse(message)
    if (work.success) listen(work.data)
  })
