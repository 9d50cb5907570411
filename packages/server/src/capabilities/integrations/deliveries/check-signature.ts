/** Signatures of Standard Webhooks, checked by the receiver. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { signingKey } from '../../../tenants/webhooks/sign.ts'
import type { DeliveryCheck, RawDelivery } from '../integration.ts'

const freshnessMs = 5 * 60_000
/** The least length of a key. Shorter keys can be guessed, and with an empty key anyone could sign. */
export const leastKeyBytes = 24
/** The most signatures that are checked: bounds the work for a stranger's request. */
const mostSignatures = 8

/**
 * Ids contain no full stop. The full stop separates the parts of the signed text, so a captured text cannot be split
 * differently.
 */
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
  // The signature is checked before the time: only the holder of a secret learns whether a time is too old.
  const genuine = expected.some((mac) => signatures.some((given) => timingSafeEqual(given, mac)))
  if (!genuine) return { kind: 'refused', reason: 'forged' }
  const fresh = Math.abs(nowMs - Number(timestamp) * 1000) <= freshnessMs
  return fresh ? { kind: 'genuine', id } : { kind: 'refused', reason: 'stale' }
}

/** The signatures of version 1 in the header, each of 32 bytes. */
function macsOf(header: string): Buffer[] {
  return header
    .split(' ', mostSignatures)
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice('v1,'.length), 'base64'))
    .filter((mac) => mac.length === 32)
}
