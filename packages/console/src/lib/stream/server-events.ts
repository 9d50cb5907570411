/** Server-sent events by `fetch`, which sends a key in a header and goes on behind the last event that came. */
import { createParser } from 'eventsource-parser'
import { refusalOf } from '../api/refusal.ts'

export type EventStream = {
  url: string
  /** SECRET: may hold a key. */
  headers: Record<string, string>
  onData: (data: unknown) => void
  /** Anything has come, be it a sign of life. */
  onHeard: () => void
  /** The connection was lost, or not made. It is made again. */
  onLost: () => void
  /** The service refuses the stream, and asking again would not help. */
  onRefused: (error: Error) => void
  signal: AbortSignal
}

const firstWaitMs = 500
const longestWaitMs = 15_000
/** The service says something every 15 seconds. */
const silenceMs = 40_000

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })

/** Reads until the signal aborts; after a loss it begins again where it was. */
export async function followEvents(stream: EventStream): Promise<void> {
  let last: string | undefined
  let waitMs = firstWaitMs
  while (!stream.signal.aborted) {
    try {
      const isRefused = await readOnce(stream, last, (id) => {
        last = id ?? last
        waitMs = firstWaitMs
      })
      if (isRefused) return
    } catch {
      // The network; the loop asks again.
    }
    if (stream.signal.aborted) return
    stream.onLost()
    await pause(waitMs * (0.75 + Math.random() / 2), stream.signal)
    waitMs = Math.min(longestWaitMs, waitMs * 2)
  }
}

async function readOnce(
  { url, headers: caller, onData, onHeard, onRefused, signal }: EventStream,
  last: string | undefined,
  onEvent: (id: string | undefined) => void,
): Promise<boolean> {
  const ends = new AbortController()
  const end = () => ends.abort()
  signal.addEventListener('abort', end, { once: true })
  let silence = setTimeout(end, silenceMs)
  try {
    const headers: Record<string, string> = { ...caller, accept: 'text/event-stream' }
    if (last !== undefined) headers['last-event-id'] = last
    const response = await fetch(url, { headers, signal: ends.signal })
    if (!response.ok) {
      const refusal = await refusalOf(response)
      const isFinal = response.status >= 400 && response.status < 500 && response.status !== 429
      if (isFinal) onRefused(refusal)
      return isFinal
    }
    const parser = createParser({
      onEvent({ id, data }) {
        onEvent(id)
        onData(JSON.parse(data))
      },
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const read = await reader?.read()
      if (!read || read.done) return false
      clearTimeout(silence)
      silence = setTimeout(end, silenceMs)
      onHeard()
      parser.feed(read.value)
    }
  } finally {
    clearTimeout(silence)
    signal.removeEventListener('abort', end)
    end()
  }
}
