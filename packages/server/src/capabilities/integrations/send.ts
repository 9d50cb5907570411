/** One request to the receiver of answers. */
import { Agent, request } from 'undici'
import type { Connector, Namer } from '../../ground/core/dial.ts'
import { RefusedAddress } from '../../ground/core/dial.ts'
import type { AnswerOutcome } from './integration.ts'

export type AnswerLetter = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  headers: Readonly<Record<string, string>>
  body: string | null
}

export type Send = (letter: AnswerLetter, signal: AbortSignal) => Promise<AnswerOutcome>

/** Follows no redirect. `timeoutMs` is for all of it. Of an answer `answerBytes` are read. */
export function sending(
  connect: Connector<Namer>,
  { timeoutMs = 15_000, answerBytes = 256 * 1024 } = {},
): { send: Send; close: () => Promise<void> } {
  const agent = new Agent({ connect, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  return {
    async send({ method, url, headers, body }, signal) {
      const late = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method,
          // Every attempt looks the name up anew, and shares no connection with another tenant's.
          reset: true,
          headers: { 'user-agent': 'steward', ...headers },
          body,
          signal: AbortSignal.any([signal, late]),
        })
        const { 'retry-after': wait = null } = answer.headers
        const retryAfter = Array.isArray(wait) ? (wait[0] ?? null) : wait
        return {
          status: answer.statusCode,
          retryAfter,
          body: await beginningOf(answer.body, answerBytes),
        }
      } catch (error) {
        if (signal.aborted) return { error: 'the server stopped before there was an answer' }
        if (late.aborted) return { error: `no answer within ${timeoutMs} ms` }
        return { error: reasonOf(error) }
      }
    },
    close: () => agent.destroy(),
  }
}

async function beginningOf(body: AsyncIterable<Buffer>, most: number): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    pieces.push(piece)
    size += piece.length
    if (size >= most) break
  }
  return Buffer.concat(pieces).subarray(0, most).toString('utf8')
}

function reasonOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  if ([error, cause].some((each) => each instanceof RefusedAddress))
    return 'its address is private or reserved, and not dialled'
  return typeof code === 'string' ? `no answer (${code})` : 'no answer'
}
