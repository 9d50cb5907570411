import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Prefixes of the kinds of token. A token without such a prefix is a workspace key. */
const prefixes = {
  workspace: 'stw_key_',
  environment: 'stw_env_',
  claim: 'stw_claim_',
  mcp: 'stw_mcp_',
  access: 'stw_at_',
  refresh: 'stw_rt_',
  code: 'stw_code_',
  device: 'stw_dev_',
} as const
type PrefixKind = keyof typeof prefixes
/** Kinds of token that a request may carry as its credential. */
export type TokenKind = Exclude<PrefixKind, 'code' | 'device'>

export const tokenPrefix = (kind: PrefixKind): string => prefixes[kind]

/** A new token: 256 random bits behind the prefix of its kind. Tokens of MCP servers and claims are signed instead. */
export const newToken = (kind: Exclude<PrefixKind, 'mcp' | 'claim'>): string =>
  prefixes[kind] + randomBytes(32).toString('base64url')

export function tokenKind(token: string): TokenKind {
  if (token.startsWith(prefixes.environment)) return 'environment'
  if (token.startsWith(prefixes.claim)) return 'claim'
  if (token.startsWith(prefixes.mcp)) return 'mcp'
  if (token.startsWith(prefixes.access)) return 'access'
  if (token.startsWith(prefixes.refresh)) return 'refresh'
  return 'workspace'
}

/** SHA-256 in hex, the only form in which a token is stored. A token of 256 random bits needs no slower hash. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** The last four characters, by which people tell keys apart. Shows nothing of a key under 12 characters. */
export const previewToken = (token: string): string =>
  token.length < 12 ? '…' : `…${token.slice(-4)}`

/** Compares in constant time, so that timing reveals nothing of the secret. */
export function isSameSecret(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}
