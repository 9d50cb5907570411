import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The kinds of secret a caller may hold, told apart by prefix; whatever has none of them is a workspace key. */
const prefixes = {
  workspace: 'stw_key_',
  environment: 'stw_env_',
  claim: 'stw_claim_',
  mcp: 'stw_mcp_',
} as const
export type TokenKind = keyof typeof prefixes

export const tokenPrefix = (kind: TokenKind): string => prefixes[kind]

/** 256 random bits under the prefix of its kind; those for MCP servers and of claims are signed instead. */
export const newToken = (kind: Exclude<TokenKind, 'mcp' | 'claim'>): string =>
  prefixes[kind] + randomBytes(32).toString('base64url')

export function tokenKind(token: string): TokenKind {
  if (token.startsWith(prefixes.environment)) return 'environment'
  if (token.startsWith(prefixes.claim)) return 'claim'
  if (token.startsWith(prefixes.mcp)) return 'mcp'
  return 'workspace'
}

/** SHA-256 in hex: enough for 256 random bits, and the only form that is stored. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The last four characters, for people to tell keys apart; nothing of a short key. */
export const previewToken = (token: string): string =>
  token.length < 12 ? '…' : `…${token.slice(-4)}`

export function isSameSecret(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}
