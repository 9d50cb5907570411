/** What reads the events of one wire. */
import type { JsonObject } from '../documents.ts'

/** `growing`: the only news of this event is the text at `field`; events with the same `slot` can be joined. */
export type FittedEvent = {
  data: JsonObject
  growing?: { slot: string; holder: JsonObject; field: string }
}

/** For the events of one answer, in their order. */
export type EventFitter = {
  fit(data: JsonObject, name: string | undefined): FittedEvent[]
  /** What the end mark `[DONE]` stands for. */
  done(): FittedEvent[]
}
