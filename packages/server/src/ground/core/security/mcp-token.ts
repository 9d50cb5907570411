/** Short-lived tokens for one MCP server of one session. */
import { signedTokens } from './signed-tokens.ts'

export type McpGrant = { tenant: string; session: string; server: string; expiresAt: number }

export type McpTokens = ReturnType<typeof mcpTokens>

export function mcpTokens(...keys: [Buffer, ...Buffer[]]) {
  const tokens = signedTokens('mcp', ...keys)
  return {
    mint: ({ tenant, session, server, expiresAt }: McpGrant): string =>
      tokens.make([tenant, session, server, expiresAt]),

    /** Undefined for a token with another signature, and for an expired token. */
    read(token: string, now: number): McpGrant | undefined {
      const values = tokens.read(token) as [string, string, string, number] | undefined
      if (!values) return undefined
      const [tenant, session, server, expiresAt] = values
      return expiresAt > now ? { tenant, session, server, expiresAt } : undefined
    },
  }
}
