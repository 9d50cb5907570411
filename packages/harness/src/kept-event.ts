import type { NewEvent } from '@steward/protocol/events.ts'

/**
 * An event to store in the log. `opaque`: data that only later model requests need. `web_searches`: requests to the
 * search engine that the event is the result of. `retry_ms`: the pause after this error until the model is asked again.
 */
export type KeptEvent = {
  event: NewEvent
  opaque?: string
  web_searches?: number
  retry_ms?: number
}
