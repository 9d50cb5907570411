/**
 * Secrets at rest: AES-256-GCM under keys derived from the root secret. A sealed value is
 * `v1.<key id>.<nonce>.<ciphertext and tag>`, bound to the place it was sealed for.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Text that only `open` can read; a type of its own, so that it is not taken for the secret or shown. */
export type Sealed = string & { readonly sealed: unique symbol }

export interface Seal {
  /** Names the key that new values are sealed under. */
  readonly keyId: string
  /** `place` is tenant, table, row and column: a value moved elsewhere does not open. */
  seal(secret: string, place: string): Sealed
  /** Throws when the value was sealed under another root secret, or for another place. */
  open(sealed: Sealed, place: string): string
}

const derive = (secret: string, info: string, bytes: number) =>
  Buffer.from(hkdfSync('sha256', secret, 'steward', info, bytes))

export function sealUnder(rootSecret: string): Seal {
  const key = derive(rootSecret, 'seal', 32)
  const keyId = derive(rootSecret, 'key id', 6).toString('hex')
  return {
    keyId,
    seal(secret, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
      const body = Buffer.concat([
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return ['v1', keyId, nonce.toString('base64url'), body.toString('base64url')].join(
        '.',
      ) as Sealed
    },
    open(sealed, place) {
      const [version, id, nonce, body] = sealed.split('.')
      if (version !== 'v1' || !nonce || !body) throw new Error('not a sealed value')
      if (id !== keyId)
        throw new Error(`sealed under root key ${id}, but this process holds ${keyId}`)
      const bytes = Buffer.from(body, 'base64url')
      const iv = Buffer.from(nonce, 'base64url')
      // Without a length, any beginning of a tag would be taken for the whole.
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(-16))
      return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
