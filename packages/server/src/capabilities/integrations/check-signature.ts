/** Standard Webhooks, from the side of the receiver. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { signingKey } from '../../tenants/webhooks/sign.ts'
import type { DeliveryCheck, RawDelivery } from './integration.ts'

const freshnessMs = 5 * 60_000
/** Shorter keys can be guessed; an empty one would let anyone sign. */
export const leastKeyBytes = 24
/** Bounds the work for a request of a stranger. */
const mostSignatures = 8

/** Without a full stop, which separates the parts of the signed text: a captured text cannot be split in another way. */
const idForm = /^[\w-]{1,256}$/
const timestampForm = /^[0-9]{1,12}$/

export function checkSignature(
  { headers, body }: RawDelivery,
  secrets: readonly string[],
  nowMs: number,
): DeliveryCheck {
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  const signatures = macsOf(headers['webhook-signature'] ?? '')
  if (!idForm.test(id) || !timestampForm.test(timestamp) || signatures.length === 0) {
    return { kind: 'refused', reason: 'unsigned' }
  }
  const keys = secrets.map(signingKey).filter((key) => key.length >= leastKeyBytes)
  const expected = keys.map((key) =>
    createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest(),
  )
  // The signature goes first: only the holder of a secret learns whether a time is too old.
  const genuine = expected.some((mac) => signatures.some((given) => timingSafeEqual(given, mac)))
  if (!genuine) return { kind: 'refused', reason: 'forged' }
  const fresh = Math.abs(nowMs - Number(timestamp) * 1000) <= freshnessMs
  return fresh ? { kind: 'genuine', id } : { kind: 'refused', reason: 'stale' }
}

/** Those of version 1, which have 32 bytes. */
function macsOf(header: string): Buffer[] {
  return header
    .split(' ', mostSignatures)
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice('v1,'.length), 'base64'))
    .filter((mac) => mac.length === 32)
}
