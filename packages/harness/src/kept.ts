import type { NewEvent } from '@steward/protocol/events.ts'

/** What the log keeps: an event, and what only the next model request needs to know of it. */
export type KeptEvent = { event: NewEvent; opaque?: string }
