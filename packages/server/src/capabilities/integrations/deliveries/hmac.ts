/** Signatures of apps: the hex of an HMAC-SHA256. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { leastKeyBytes } from './check-signature.ts'

/** `hex`: 64 digits. A secret that is too short makes no signature genuine. */
export function isSigned(
  hex: string,
  secrets: readonly string[],
  pieces: readonly (string | Uint8Array)[],
): boolean {
  const given = Buffer.from(hex, 'hex')
  return secrets
    .map((secret) => Buffer.from(secret))
    .filter((key) => key.length >= leastKeyBytes)
    .some((key) => {
      const mac = createHmac('sha256', key)
      for (const piece of pieces) mac.update(piece)
      return timingSafeEqual(given, mac.digest())
    })
}
