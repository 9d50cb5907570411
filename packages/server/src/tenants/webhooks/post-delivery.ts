/** Posts a signed request to an endpoint. The outcome is a status, or a reason that reveals nothing of the network. */
import { Agent, sendRequest } from '../../ground/core/security/undici.ts'
import type { Connector, Namer } from '../../ground/core/security/dial.ts'
import { RefusedAddressError } from '../../ground/core/security/dial.ts'
import type { PostOutcome } from './verdict.ts'

/** Bytes read of an answer's body. The body is ignored; reading it lets its sender finish. */
const bodyBytes = 16 * 1024

export type PostDelivery = (
  letter: { url: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<PostOutcome>

/** Follows no redirect. `timeoutMs`: limit for lookup, connection, head and body together. */
export function webhookPoster(
  connect: Connector<Namer>,
  { timeoutMs = 10_000 } = {},
): { post: PostDelivery; close(): Promise<void> } {
  const agent = new Agent({ connect, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  return {
    async post({ url, headers, body }, signal) {
      const late = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await sendRequest(url, {
          dispatcher: agent,
          method: 'POST',
          // Each attempt resolves the name anew and shares no connection with another tenant.
          reset: true,
          headers: { 'content-type': 'application/json', 'user-agent': 'steward', ...headers },
          body,
          signal: AbortSignal.any([signal, late]),
        })
        // The status decides; a failure while reading the body changes nothing.
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
    return 'its address is private or reserved, and not dialled; the operator can open it by EGRESS_TENANT_TARGETS'
  return typeof code === 'string' ? `no answer (${code})` : 'no answer'
}
