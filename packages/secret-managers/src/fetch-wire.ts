/** The wire over a `fetch` of the caller, which decides by which connections requests leave. */
import type { ManagerWire } from './wire.ts'
import { clippedWords, failure } from './wire.ts'

/** Time for one answer as a whole. */
const answerMs = 5_000
const mostBytes = 256 * 1024

export const fetchWire =
  (fetch: typeof globalThis.fetch): ManagerWire =>
  async ({ method, url, headers, body }, signal) => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    try {
      const answer = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        signal: ended,
      })
      const chunks: Uint8Array[] = []
      let length = 0
      for await (const chunk of answer.body ?? []) {
        length += chunk.byteLength
        if (length > mostBytes) return failure('too_large', 'it answers at too great a length')
        chunks.push(chunk)
      }
      return { ok: true, status: answer.status, text: Buffer.concat(chunks).toString('utf8') }
    } catch (error) {
      if (ended.aborted) return failure('away', 'it does not answer in time')
      return failure('away', clippedWords(`it cannot be reached: ${wordsOf(error)}`))
    }
  }

/** The reason lies in the innermost cause. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  return inner === undefined ? error.message : wordsOf(inner)
}
