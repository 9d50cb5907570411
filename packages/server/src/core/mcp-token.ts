/** Short-lived tokens for one MCP server of one session, signed and not stored. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { tokenPrefix } from './token.ts'

export type McpGrant = { tenant: string; session: string; server: string; expiresAt: number }

/** A key of its own for each purpose, from the root secret. */
export const derivedKey = (rootSecret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', rootSecret, 'steward', purpose, 32))

export type McpTokens = ReturnType<typeof mcpTokens>

/** Made under the first key; those of the others are still read. */
export function mcpTokens(key: Buffer, ...older: Buffer[]) {
  const signature = (payload: string, by = key) => createHmac('sha256', by).update(payload).digest()
  const isSigned = (payload: string, given: Buffer) =>
    [key, ...older].some((each) => {
      const expected = signature(payload, each)
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  return {
    mint({ tenant, session, server, expiresAt }: McpGrant): string {
      const payload = Buffer.from(JSON.stringify([tenant, session, server, expiresAt]))
      const text = payload.toString('base64url')
      return `${tokenPrefix('mcp')}${text}.${signature(text).toString('base64url')}`
    },

    /** Undefined for what this key has not signed, and for what has expired. */
    read(token: string, now: number): McpGrant | undefined {
      const [payload = '', signed = ''] = token.slice(tokenPrefix('mcp').length).split('.')
      if (!isSigned(payload, Buffer.from(signed, 'base64url'))) return undefined
      const [tenant, session, server, expiresAt] = JSON.parse(
        Buffer.from(payload, 'base64url').toString(),
      ) as [string, string, string, number]
      return expiresAt > now ? { tenant, session, server, expiresAt } : undefined
    },
  }
}
