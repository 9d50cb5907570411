/** Requests to the receivers of answers. */
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { Agent, sendRequest } from '../../../ground/core/security/undici.ts'
import type { Connector, Namer } from '../../../ground/core/security/dial.ts'
import { RefusedAddressError } from '../../../ground/core/security/dial.ts'
import type { AnswerOutcome } from '../integration.ts'

export type AnswerLetter = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  headers: Readonly<Record<string, string>>
  body: string | null
}

export type Send = (letter: AnswerLetter, signal: AbortSignal) => Promise<AnswerOutcome>

/** Read `body` once, or destroy it. */
export type Download = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<{ status: number; mediaType: string; body: Readable } | { error: string }>

/** Reads `body` once, or destroys it. */
export type Upload = (
  url: string,
  file: { body: Readable; size: number },
  signal: AbortSignal,
) => Promise<AnswerOutcome>

/**
 * Never follows a redirect. `timeoutMs` limits the whole request. Only the first `answerBytes` of an answer are read.
 */
export function createProviderSender(
  connect: Connector<Namer>,
  { timeoutMs = 15_000, uploadMs = 45_000, answerBytes = 256 * 1024 } = {},
): { send: Send; download: Download; upload: Upload; close: () => Promise<void> } {
  const agent = new Agent({ connect, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  return {
    async send({ method, url, headers, body }, signal) {
      const late = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await sendRequest(url, {
          dispatcher: agent,
          method,
          // Every attempt resolves the name again, and no connection is shared between tenants.
          reset: true,
          headers: { 'user-agent': 'steward', ...headers },
          body,
          signal: AbortSignal.any([signal, late]),
        })
        return {
          status: answer.statusCode,
          retryAfter: readRetryAfter(answer.headers),
          body: await beginningOf(answer.body, answerBytes),
        }
      } catch (error) {
        if (signal.aborted) return { error: 'the server stopped before there was an answer' }
        if (late.aborted) return { error: `no answer within ${timeoutMs} ms` }
        return { error: reasonOf(error) }
      }
    },
    async download(url, headers, signal) {
      try {
        const given = { dispatcher: agent, reset: true, signal }
        const answer = await sendRequest(url, {
          ...given,
          headers: { 'user-agent': 'steward', ...headers },
        })
        const type = [answer.headers['content-type']].flat()[0] ?? ''
        return { status: answer.statusCode, mediaType: type.split(';')[0] ?? '', body: answer.body }
      } catch (error) {
        return { error: reasonOf(error) }
      }
    },
    async upload(url, { body, size }, signal) {
      const ending = AbortSignal.any([signal, AbortSignal.timeout(uploadMs)])
      try {
        const answer = await sendRequest(url, {
          dispatcher: agent,
          reset: true,
          method: 'POST',
          body,
          signal: ending,
          headers: {
            'user-agent': 'steward',
            'content-type': 'application/octet-stream',
            'content-length': String(size),
          },
        })
        return {
          status: answer.statusCode,
          retryAfter: readRetryAfter(answer.headers),
          body: await beginningOf(answer.body, answerBytes),
        }
      } catch (error) {
        return { error: reasonOf(error) }
      } finally {
        body.destroy()
      }
    },
    close: () => agent.destroy(),
  }
}

type Headers = Dispatcher.ResponseData['headers']

/**
 * The header `Retry-After`. GitHub instead gives the time at which a used-up limit ends in other headers, in Unix
 * seconds.
 */
export function readRetryAfter(headers: Headers): string | null {
  const first = (name: string): string | undefined => [headers[name]].flat()[0]
  const wait = first('retry-after')
  if (wait !== undefined) return wait
  const reset = first('x-ratelimit-reset') ?? ''
  const isUsedUp = first('x-ratelimit-remaining') === '0' && /^\d{1,12}$/.test(reset)
  return isUsedUp ? new Date(Number(reset) * 1000).toUTCString() : null
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
  if ([error, cause].some((each) => each instanceof RefusedAddressError))
    return 'its address is private or reserved, and not dialled'
  return typeof code === 'string' ? `no answer (${code})` : 'no answer'
}
