/** Decides about a delivery after an attempt. [webhooks/attempts] [webhooks/redirect] */

export const mostAttempts = 3

const [leastMs, mostMs] = [5_000, 120_000]

/** The status of the answer, or the reason why none came. */
export type PostOutcome = { status: number } | { error: string }

export type DeliveryVerdict =
  | { kind: 'delivered' }
  | { kind: 'again'; afterMs: number }
  /** `redirected`: the endpoint is to be disabled. */
  | { kind: 'failed'; redirected: boolean }

/** Exponential delay, up to 20, then up to 80 seconds; its upper half is random. `random` is in [0, 1). */
export function backoffMs(begun: number, random: number): number {
  const ceiling = Math.min(mostMs, leastMs * 4 ** begun)
  return Math.max(leastMs, Math.round((ceiling * (1 + random)) / 2))
}

export function judgeDelivery(
  outcome: PostOutcome,
  begun: number,
  random: number,
): DeliveryVerdict {
  const status = 'status' in outcome ? outcome.status : 0
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  const redirected = status >= 300 && status < 400
  if (redirected || begun >= mostAttempts) return { kind: 'failed', redirected }
  return { kind: 'again', afterMs: backoffMs(begun, random) }
}
