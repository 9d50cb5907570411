/** The tokens of a login: a short access token, and a refresh token that is exchanged for the next pair. */
import { createHash, createHmac } from 'node:crypto'
import { dayMs, hourMs, minuteMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import {
  hashToken,
  isSameSecret,
  newToken,
  tokenPrefix,
} from '../../../ground/core/security/token.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { oauthStore } from './store.ts'

export const accessMs = hourMs
/** For a token of a company's provider, which says anew what its holder may. */
export const exchangedAccessMs = 15 * minuteMs
/** A login ends when its client has not exchanged the refresh token for so long. */
export const refreshMs = 30 * dayMs
/** An exchanged refresh token is kept for so long, so that its reuse is noticed. */
export const exchangedMs = 7 * dayMs
/** An exchanged refresh token is answered again for so long, for processes that share one file of credentials. */
export const repeatMs = minuteMs

/** SECRET: never logged. */
export type LoginTokenPair = { access: string; refresh: string | undefined; expiresSeconds: number }

export type RefreshKeys = readonly [Buffer, ...Buffer[]]

/**
 * The refresh token that follows another. It is derived, so that an exchange whose answer was lost gives the same token
 * again, though only hashes are stored.
 */
export const nextRefreshToken = (key: Buffer, token: string): string =>
  tokenPrefix('refresh') + createHmac('sha256', key).update(token).digest('base64url')

/** Stores the pair. `isNew`: the refresh token is not stored yet. */
export async function storeTokens(
  tx: Queries,
  { tenant, keyId }: { tenant: string; keyId: string },
  {
    refresh,
    isNew,
    now,
    validMs = accessMs,
  }: { refresh: string | undefined; isNew: boolean; now: number; validMs?: number },
): Promise<LoginTokenPair> {
  const access = newToken('access')
  const line = refresh === undefined ? null : hashToken(refresh)
  const shared = { tenant_id: tenant, key_id: keyId, exchanged_at: null, used_at: null }
  const rows = [
    ...(line !== null && isNew
      ? [{ hash: line, kind: 'refresh' as const, line: null, expires_at: iso(now + refreshMs) }]
      : []),
    { hash: hashToken(access), kind: 'access' as const, line, expires_at: iso(now + validMs) },
  ]
  await oauthStore(tx).addTokens(rows.map((row) => ({ ...shared, ...row, created_at: iso(now) })))
  return { access, refresh, expiresSeconds: validMs / 1_000 }
}

/** True when the verifier is the one of the challenge, by S256. RFC 7636 4.6 */
export const isVerifierOf = (challenge: string, verifier: string): boolean =>
  isSameSecret(createHash('sha256').update(verifier).digest('base64url'), challenge)
