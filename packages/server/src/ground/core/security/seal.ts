/**
 * Secrets at rest: AES-256-GCM under keys derived from the root secret (`v1`), or from a secret of one workspace
 * (`v2`). A sealed value is `<version>.<key id>.<nonce>.<ciphertext and tag>`, bound to the context it was sealed for.
 */
import type { KeyObject } from 'node:crypto'
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import type { Memo } from '@steward/base/memo.ts'
import { conflict } from '../errors.ts'

/** An encrypted text that only `open` can read. A type of its own, so that it cannot pass for the secret. */
export type Sealed = string & { readonly sealed: unique symbol }

export interface Seal {
  /** The id of the key that seals new values. */
  readonly keyId: string
  /** The ids of all keys whose values can be opened. `keyId` is the first. */
  readonly keyIds: readonly string[]
  /** `context`: tenant, table, row and column. A value that was moved to another row does not open. */
  seal(secret: string, context: string): Sealed
  /** Throws when the value was sealed under an unknown root secret, or for another context. */
  open(sealed: Sealed, context: string): string
}

/** The same seal with a memo of opened values. */
export const withMemo = (seal: Seal, memo: Memo<string>): Seal => ({
  ...seal,
  open: (sealed, context) =>
    // The length keeps two pairs of value and context from making the same text.
    memo.of(`${sealed.length} ${sealed} ${context}`, () => seal.open(sealed, context)),
})

const derive = (secret: string, info: string, bytes: number) =>
  Buffer.from(hkdfSync('sha256', secret, 'steward', info, bytes))

const notSealed = () => new Error('not a sealed value')

/** Throws for Base64url with stray characters or bits, which Node accepts: else many texts would open as one value. */
function decodeCanonical(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw notSealed()
  return bytes
}

/** The id of the key that sealed the value. */
export const keyIdOf = (sealed: Sealed): string => sealed.split('.')[1] ?? ''

type SealVersion = 'v1' | 'v2'

/** True when the value was sealed under the root secret itself. */
export const isUnderRoot = (sealed: Sealed): boolean => sealed.startsWith('v1.')

/** Seals under `secret`. Also opens values that `others` sealed, for a change of the secret. */
export function createSeal(
  secret: string,
  others: readonly string[] = [],
  sealedAs: SealVersion = 'v1',
): Seal {
  const keys = new Map(
    [secret, ...others].map((each) => [
      derive(each, 'key id', 6).toString('hex'),
      createSecretKey(derive(each, 'seal', 32)),
    ]),
  )
  const keyIds = [...keys.keys()]
  const [keyId = ''] = keyIds
  return {
    keyId,
    keyIds,
    seal(secret, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyFor(keyId), nonce).setAAD(
        Buffer.from(context),
      )
      const body = Buffer.concat([
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return [sealedAs, keyId, nonce.toString('base64url'), body.toString('base64url')].join(
        '.',
      ) as Sealed
    },
    open(sealed, context) {
      const [version, id, nonce, body, ...rest] = sealed.split('.')
      if (version !== sealedAs || !id || !nonce || !body || rest.length > 0) throw notSealed()
      const bytes = decodeCanonical(body)
      const iv = decodeCanonical(nonce)
      // Without a length, Node accepts a shortened tag.
      const decipher = createDecipheriv('aes-256-gcm', keyFor(id), iv, { authTagLength: 16 })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-16))
      return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')
    },
  }

  function keyFor(id: string): KeyObject {
    const key = keys.get(id)
    if (key) return key
    if (sealedAs === 'v2')
      throw conflict(
        'this secret was sealed under a key that was forgotten with a deleted workspace: give the secret anew',
      )
    throw new Error(`sealed under root key ${id}, but this process holds ${keyIds.join(', ')}`)
  }
}
