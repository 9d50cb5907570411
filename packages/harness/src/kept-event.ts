import type { NewEvent } from '@steward/protocol/events.ts'

/** An event to store in the log. `opaque`: data that only later model requests need. */
export type KeptEvent = { event: NewEvent; opaque?: string }
