/** The body of a request whose route reads it itself. */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

/** Given up, it leaves the connection as it is, so that an answer that came early is still read. */
export function bodyOf(incoming: IncomingMessage): Readable {
  const body = new Readable({
    read: () => incoming.resume(),
    destroy(error, done) {
      incoming.off('data', take).resume()
      done(error)
    },
  })
  const take = (chunk: Buffer) => {
    if (!body.push(chunk)) incoming.pause()
  }
  const broken = (cause?: unknown) => {
    if (!incoming.readableEnded) body.destroy(new Error('the body broke off', { cause }))
  }
  // Its caller may leave before anybody reads it: whoever comes to read finds it destroyed.
  body.on('error', () => {})
  if (incoming.destroyed) broken()
  incoming
    .on('data', take)
    .once('end', () => body.push(null))
    .once('error', broken)
    .once('close', broken)
    .pause()
  return body
}
