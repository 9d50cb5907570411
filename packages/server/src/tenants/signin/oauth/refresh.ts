/** Exchanges a refresh token for the next pair, in one unit. */
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { findRoleForShare } from '../../../ground/database/lock.ts'
import type { Ground } from '../../../ground/ground.ts'
import { loginStore } from '../../api-keys/logins.ts'
import type { KeyRow } from '../../api-keys/store.ts'
import type { OAuthClient } from './clients.ts'
import { endLogin } from './end-login.ts'
import type { LoginGrant } from './exchange.ts'
import { noMember } from './exchange.ts'
import type { OAuthRefusal } from './refusal.ts'
import { refuse } from './refusal.ts'
import type { OAuthTokenRow } from './store.ts'
import { oauthStore } from './store.ts'
import type { RefreshKeys } from './tokens.ts'
import { exchangedMs, nextRefreshToken, refreshMs, repeatMs, storeTokens } from './tokens.ts'

const unknownRefresh = () =>
  refuse(
    'invalid_grant',
    'refresh_token: is not known, has expired, or its login was ended: log in again',
  )

export function refreshExchange({
  databases: { control },
  clock,
  refreshKeys,
}: Pick<Ground, 'databases' | 'clock'> & { refreshKeys: RefreshKeys }) {
  async function rotate(tx: Queries, login: KeyRow, row: OAuthTokenRow, token: string) {
    const { tenant_id: tenant, id: keyId } = login
    const now = clock.now()
    const kept = Math.min(Date.parse(row.expires_at), now + exchangedMs)
    await oauthStore(tx).markExchanged(row.hash, { exchanged_at: iso(now), expires_at: iso(kept) })
    await loginStore(tx).extend(tenant, keyId, { expiresAt: iso(now + refreshMs), now })
    const refresh = nextRefreshToken(refreshKeys[0], token)
    return storeTokens(tx, { tenant, keyId }, { refresh, isNew: true, now })
  }

  /**
   * The answer to a refresh token that was exchanged before. The same next token again, for a client that lost the
   * answer and for processes that share a file; undefined where the next one was in use: then two parties have it.
   */
  async function repeat(tx: Queries, login: KeyRow, row: OAuthTokenRow, token: string) {
    const { tenant_id: tenant, id: keyId } = login
    const now = clock.now()
    for (const key of refreshKeys) {
      const refresh = nextRefreshToken(key, token)
      const next = await oauthStore(tx).token(refresh)
      if (next?.key_id !== keyId || next.exchanged_at !== null) continue
      const isRecent = now - Date.parse(row.exchanged_at ?? '') <= repeatMs
      if (isRecent || next.used_at === null)
        return storeTokens(tx, { tenant, keyId }, { refresh, isNew: false, now })
    }
    return undefined
  }

  return async function exchangeRefreshToken(
    client: OAuthClient,
    token: string,
  ): Promise<LoginGrant | OAuthRefusal> {
    return control.write(async (tx) => {
      const found = await oauthStore(tx).token(token)
      if (found?.kind !== 'refresh') return unknownRefresh()
      const login = await loginStore(tx).findForUpdate(found.tenant_id, found.key_id)
      // Read again under the lock: another process may have exchanged it.
      const row = login && (await oauthStore(tx).token(token))
      if (!row || Date.parse(row.expires_at) <= clock.now()) return unknownRefresh()
      if (login.client_id !== client.id)
        return refuse('invalid_grant', 'client_id: the refresh token was issued to another client')
      const { tenant_id: tenant, id: keyId, created_by: person } = login
      if (person === null || !(await findRoleForShare(tx, tenant, person))) return noMember()
      const step = row.exchanged_at === null ? rotate : repeat
      const tokens = await step(tx, login, row, token)
      if (tokens) return { tokens, tenant, person, scope: '' }
      await endLogin(tx, { tenant, keyId, reason: 'a refresh token was used twice', clock })
      return unknownRefresh()
    })
  }
}
