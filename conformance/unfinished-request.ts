/** A request whose body stays incomplete until the test finishes it. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Sends the head and the first half of the body. `finish` sends the rest, and resolves with the answer. */
export function unfinishedPost(
  url: string,
  body: object | string,
  headers: Record<string, string>,
): { finish: () => Promise<{ status: number; body: string }> } {
  const whole = typeof body === 'string' ? body : JSON.stringify(body)
  const half = Math.floor(whole.length / 2)
  const sent = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(whole) },
  })
  sent.write(whole.slice(0, half))
  const answered = once(sent, 'response')
  // A server that refuses early may close the connection before the rest of the body.
  sent.on('error', () => {})
  return {
    async finish() {
      sent.end(whole.slice(half))
      const [answer] = (await answered) as [IncomingMessage]
      return { status: answer.statusCode ?? 0, body: await text(answer) }
    },
  }
}
