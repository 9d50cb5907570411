/** One signed request to an endpoint. What it answers is a status; why it does not is told without what lies behind. */
import { Agent, request } from '../../ground/core/undici.ts'
import type { Connector, Namer } from '../../ground/core/dial.ts'
import { RefusedAddressError } from '../../ground/core/dial.ts'
import type { Outcome } from './verdict.ts'

/** Of an answer's body, which means nothing here: read so that its sender is not cut off, and no further. */
const bodyBytes = 16 * 1024

export type Post = (
  letter: { url: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<Outcome>

/** Follows no redirect. `timeoutMs` is for all of it: the look-up, the connection, the answer's head and its body. */
export function posting(
  connect: Connector<Namer>,
  { timeoutMs = 10_000 } = {},
): { post: Post; close(): Promise<void> } {
  const agent = new Agent({ connect, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  return {
    async post({ url, headers, body }, signal) {
      const late = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          // Every attempt looks the name up anew, and shares no connection with another tenant's.
          reset: true,
          headers: { 'content-type': 'application/json', 'user-agent': 'steward', ...headers },
          body,
          signal: AbortSignal.any([signal, late]),
        })
        // The status has been heard: what becomes of the rest changes nothing.
        await answer.body.dump({ limit: bodyBytes, signal: late }).catch(() => undefined)
        return { status: answer.statusCode }
      } catch (error) {
        if (signal.aborted) return { error: 'the server stopped before there was an answer' }
        if (late.aborted) return { error: `no answer within ${timeoutMs} ms` }
        return { error: reasonOf(error) }
      }
    },
    close: () => agent.destroy(),
  }
}

function reasonOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  const all = [error, cause, ...(error instanceof AggregateError ? error.errors : [])]
  if (all.some((each) => each instanceof RefusedAddressError))
    return 'its address is private or reserved, and not dialled'
  return typeof code === 'string' ? `no answer (${code})` : 'no answer'
}
