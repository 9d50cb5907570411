import type { ServerResponse } from 'node:http'
import { onwardAnswer } from './heads.ts'
import type { OutboundAnswer } from './outbound.ts'

/** Throws, with nothing sent, when the head of the answer cannot be passed on. */
export function sendAnswer(
  { status, headers, body }: OutboundAnswer,
  { method, response }: { method: string; response: ServerResponse },
): void {
  body.on('error', () => response.destroy())
  if (response.destroyed) {
    body.destroy()
    return
  }
  response.once('close', () => {
    if (!response.writableFinished) body.destroy()
  })
  response.sendDate = false
  try {
    if (status < 200) throw new Error('an answer has no such status')
    response.writeHead(status, onwardAnswer(headers, status))
  } catch (error) {
    body.destroy()
    throw error
  }
  if (method === 'HEAD' || status === 204 || status === 304) {
    body.resume()
    response.end()
    return
  }
  let hasBegun = false
  let hasEnded = false
  body.on('data', (chunk: Buffer) => {
    hasBegun = true
    if (!response.write(chunk)) body.pause()
  })
  response.on('drain', () => body.resume())
  body.once('end', () => {
    hasEnded = true
    response.end()
  })
  body.once('close', () => {
    if (!hasEnded) response.destroy()
  })
  // Waits briefly for the first piece of the body, to send head and piece in one packet.
  setImmediate(() => {
    if (!hasBegun && !hasEnded && !response.destroyed) response.flushHeaders()
  })
}
