/** The stream of a workspace as the service has it, for the one connection. */
import { refusalOf } from '../api/refusal.ts'
import { oneStream } from './one-stream.ts'
import type { OneStream } from './one-stream.ts'
import { followEvents } from './server-events.ts'

/** Who asks, and where. SECRET: the headers may hold a key. */
export type StreamCaller = { serviceUrl: string; headers: Record<string, string> }

const path = '/v1/ext/stream'

export function serviceStream({ serviceUrl, headers }: StreamCaller): OneStream {
  return oneStream({
    follow: (stream) => followEvents({ ...stream, url: serviceUrl + path, headers }),
    async change(id, body) {
      try {
        const response = await fetch(`${serviceUrl}${path}/${id}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        if (response.ok) return undefined
        const refusal = await refusalOf(response)
        // A stream that has just ended is opened again, and asked again then.
        return response.status === 404 && refusal.message.includes(id) ? undefined : refusal.message
      } catch {
        // The network: the stream notices it too, and everything is asked again.
        return undefined
      }
    },
  })
}
