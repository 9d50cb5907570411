/** The port of a key service: it encrypts and decrypts a few bytes under a key that never leaves the service. */
import type { ManagerFailure } from './wire.ts'

/** What a wrapped secret is bound to, where the service can bind it. */
export const wrappedFor = 'steward root secret'

export type KeyService = {
  /** `secret`: SECRET: never logged. The text that comes back is not secret. */
  wrap: (
    secret: Buffer,
    signal: AbortSignal,
  ) => Promise<{ ok: true; wrapped: string } | ManagerFailure>
  /** SECRET: never logged. */
  unwrap: (
    wrapped: string,
    signal: AbortSignal,
  ) => Promise<{ ok: true; secret: Buffer } | ManagerFailure>
}
