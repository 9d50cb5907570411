/**
 * Fits the events of an answer to what the library expects. Endpoints speak the wires with small differences: null for
 * absent, numbers for texts, objects for JSON in texts, several calls in one slot, an end without a reason. The library
 * drops or misreads these without a word. Many pieces of a text that came together become one event.
 */
import type { ModelWire } from '../../spec.ts'
import type { JsonObject } from '../documents.ts'
import { mendedJson } from '../mended-json.ts'
import { chatFitter } from './chat.ts'
import type { EventFitter, FittedEvent } from './fitter.ts'
import { googleFitter } from './google.ts'
import { isRecord } from './loose.ts'
import { messagesFitter } from './messages.ts'
import { responsesFitter } from './responses.ts'
import { type SentEvent, readEvents, writeEvent } from './sse.ts'

const fitters: Record<ModelWire, () => EventFitter> = {
  'anthropic-messages': messagesFitter,
  'openai-completions': chatFitter,
  'openai-responses': responsesFitter,
  'google-generative-ai': googleFitter,
}

/** Wires whose events are named as their `type`. */
const named = new Set<ModelWire>(['anthropic-messages', 'openai-responses'])
/** Wires that end with the mark. On the others the library takes the mark for a broken event. */
const marked = new Set<ModelWire>(['openai-completions', 'openai-responses'])

/** Events of one group that stay apart, so that a text is seen to grow as the model wrote it. */
const fewEvents = 32

/** Rewrites whole groups of events, see `eventSplitter`. */
export function groupFitter(wire: ModelWire): (group: Uint8Array) => Uint8Array[] {
  const fitter = fitters[wire]()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  return (group) => {
    const out: (FittedEvent | string)[] = []
    const events = readEvents(decoder.decode(group))
    for (const event of events) {
      for (const fitted of fitEvent(wire, fitter, event)) {
        if (events.length <= fewEvents || !joins(out.at(-1), fitted)) out.push(fitted)
      }
    }
    const error = out.findIndex((event) => typeof event === 'object' && isRecord(event.data.error))
    const isBare = wire === 'google-generative-ai' && error !== -1
    const before = isBare ? out.slice(0, error) : out
    const texts = [before.map((event) => writeFitted(wire, event)).join('')]
    const failure = isBare ? out[error] : undefined
    // Google's library knows an error only by a piece that is nothing else.
    if (typeof failure === 'object') texts.push(JSON.stringify(failure.data))
    return texts.filter((text) => text !== '').map((text) => encoder.encode(text))
  }
}

function fitEvent(
  wire: ModelWire,
  fitter: EventFitter,
  { name, data }: SentEvent,
): (FittedEvent | string)[] {
  const text = data.join('\n')
  if (text.trim() === '[DONE]') {
    return marked.has(wire) ? [...fitter.done(), writeEvent('[DONE]')] : fitter.done()
  }
  const values = valuesIn(data, text)
  // The library refuses what is no JSON, or what carries its error in another form.
  if (values === undefined || name === 'error') return [writeEvent(text, name)]
  return values.flatMap((value) => fitter.fit(value, name))
}

/** The objects of an event: one, or several where a proxy joined events. Undefined for what is no JSON. */
function valuesIn(data: readonly string[], text: string): JsonObject[] | undefined {
  const value = parsed(text)
  if (value !== undefined) return [value].flat().filter(isRecord)
  if (data.length < 2) return undefined
  const values = data.map(parsed)
  return values.includes(undefined) ? undefined : values.flat().filter(isRecord)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  const mended = mendedJson(text)
  return mended.ok && mended.rest === '' ? mended.value : undefined
}

function joins(before: FittedEvent | string | undefined, next: FittedEvent | string): boolean {
  if (typeof before !== 'object' || typeof next !== 'object') return false
  const [grown, growing] = [before.growing, next.growing]
  if (grown === undefined || growing === undefined || grown.slot !== growing.slot) return false
  grown.holder[grown.field] =
    `${String(grown.holder[grown.field])}${String(growing.holder[growing.field])}`
  return true
}

function writeFitted(wire: ModelWire, event: FittedEvent | string): string {
  if (typeof event === 'string') return event
  const { type } = event.data
  const isNamed = named.has(wire) && typeof type === 'string'
  return writeEvent(JSON.stringify(event.data), isNamed ? type : undefined)
}
