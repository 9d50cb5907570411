/** The requests to models of a session: what each read, wrote, took and cost. */
import type { SessionEvent } from '../../lib/api/types.ts'
import { dollarsOf } from '../../lib/session/facts.ts'
import { words } from '../../lib/words.ts'
import { momentOf } from './moments.ts'

export type ModelRequest = {
  id: string
  model: string
  /** Tokens that it read, those from a cache and into one apart. */
  input: number
  cacheRead: number
  cacheWritten: number
  output: number
  tookMs: number | undefined
  /** Undefined where the price is not known. */
  dollars: number | undefined
}

const most = 50

/** The newest come first, the last 50 of them. */
export function requestsOf(events: readonly SessionEvent[]): ModelRequest[] {
  const begun = new Map<string, number>()
  const requests: ModelRequest[] = []
  for (const event of events) {
    if (event.type === 'span.model_request_start') begun.set(event.id, momentOf(event))
    if (event.type !== 'span.model_request_end') continue
    const { model_usage: usage, step } = event
    const from = begun.get(event.model_request_start_id)
    requests.push({
      id: event.id,
      model: step?.model ?? words.session.panes.model,
      input: usage.input_tokens,
      cacheRead: usage.cache_read_input_tokens ?? 0,
      cacheWritten: usage.cache_creation_input_tokens ?? 0,
      output: usage.output_tokens,
      tookMs: step?.duration_ms ?? (from === undefined ? undefined : momentOf(event) - from),
      dollars: dollarsOf(step?.list_cost ?? null),
    })
  }
  return requests.slice(-most).toReversed()
}
