/** The thread that holds the one connection for all tabs of a browser. */
import type { Wish } from './messages.ts'
import type { OneStream, StreamPort } from './one-stream.ts'
import { serviceStream } from './service-stream.ts'
import type { StreamCaller } from './service-stream.ts'

export type ToWorker =
  | { kind: 'hello'; caller: StreamCaller }
  | { kind: 'wish'; wish: Wish }
  | { kind: 'bye' }

const streams = new Map<string, OneStream>()

/** Tabs with the same headers are one caller. */
function streamFor(caller: StreamCaller): OneStream {
  const name = JSON.stringify(caller)
  const stream = streams.get(name) ?? serviceStream(caller)
  streams.set(name, stream)
  return stream
}

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (!port) return
  let joined: StreamPort | undefined
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.kind === 'hello')
      joined ??= streamFor(data.caller).join((news) => port.postMessage(news))
    else if (data.kind === 'wish') joined?.ask(data.wish)
    else joined?.leave()
  }
})
