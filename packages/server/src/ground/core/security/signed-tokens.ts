/** Tokens that are signed and not stored. Their values are authentic; whether they still hold is checked elsewhere. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { TokenKind } from './token.ts'
import { tokenPrefix } from './token.ts'

/** A key for one purpose, derived from the root secret. */
export const derivedKey = (rootSecret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', rootSecret, 'steward', purpose, 32))

/** The first key signs. Tokens of the other keys are still read. */
export function signedTokens(
  kind: Extract<TokenKind, 'mcp' | 'claim'>,
  ...keys: [Buffer, ...Buffer[]]
) {
  const signature = (payload: string, by: Buffer) =>
    createHmac('sha256', by).update(payload).digest()
  const isSigned = (payload: string, given: Buffer) =>
    keys.some((each) => {
      const expected = signature(payload, each)
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  return {
    make(values: readonly (string | number)[]): string {
      const text = Buffer.from(JSON.stringify(values)).toString('base64url')
      return `${tokenPrefix(kind)}${text}.${signature(text, keys[0]).toString('base64url')}`
    },

    /** Undefined for a token that none of the keys has signed. */
    read(token: string): unknown[] | undefined {
      const [payload = '', mark = ''] = token.slice(tokenPrefix(kind).length).split('.')
      if (!isSigned(payload, Buffer.from(mark, 'base64url'))) return undefined
      const values: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
      return Array.isArray(values) ? values : undefined
    },
  }
}
