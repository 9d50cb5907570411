/** Exchanges the code of a person's consent for the first tokens of a login. Each exchange is one unit. */
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { findRoleForShare } from '../../../ground/database/lock.ts'
import { hashToken, newToken } from '../../../ground/core/security/token.ts'
import type { Ground } from '../../../ground/ground.ts'
import { loginStore } from '../../api-keys/logins.ts'
import { personActor } from '../../people/audit-lines.ts'
import type { OAuthClient } from './clients.ts'
import { endLogin } from './end-login.ts'
import type { OAuthRefusal } from './refusal.ts'
import { refuse } from './refusal.ts'
import type { OAuthRequestRow } from './store.ts'
import { oauthStore } from './store.ts'
import type { LoginTokenPair } from './tokens.ts'
import { isVerifierOf, refreshMs, storeTokens } from './tokens.ts'

export type LoginGrant = { tokens: LoginTokenPair; tenant: string; person: string; scope: string }

const unknownCode = () =>
  refuse('invalid_grant', 'code: is not known, was used, or has expired: log in again')
export const noMember = () =>
  refuse(
    'invalid_grant',
    'the person is no longer a member of the workspace: ask for an invitation',
  )

/** Seconds by which a device that asks too often has to wait longer. RFC 8628 3.5 */
const slowerSeconds = 5

export function codeExchanges({
  databases: { control },
  clock,
}: Pick<Ground, 'databases' | 'clock'>) {
  /** Makes the login of an approved request. */
  async function begin(
    tx: Queries,
    row: OAuthRequestRow,
    client: OAuthClient,
  ): Promise<LoginGrant | OAuthRefusal> {
    const { tenant_id: tenant, person_id: person, scope } = row
    if ((await findRoleForShare(tx, tenant, person)) === undefined) return noMember()
    const now = clock.now()
    const actor = await personActor(tx, person)
    const made = { client, person, actor, expiresAt: iso(now + refreshMs) }
    const keyId = await loginStore(tx).create(tenant, made, now)
    const refresh = newToken('refresh')
    const tokens = await storeTokens(tx, { tenant, keyId }, { refresh, isNew: true, now })
    await oauthStore(tx).setRequest(row.hash, { status: 'used', key_id: keyId })
    return { tokens, tenant, person, scope }
  }

  /** A second use of a code ends what the first one began: one of the two was not the client. RFC 6749 4.1.2 */
  async function refuseUsed(tx: Queries, { tenant_id: tenant, key_id: keyId }: OAuthRequestRow) {
    const reason = 'its code was used twice'
    if (keyId !== null) await endLogin(tx, { tenant, keyId, reason, clock })
    return unknownCode()
  }

  async function exchangeCode(
    client: OAuthClient,
    given: { code: string; verifier: string; redirectUri: string },
  ): Promise<LoginGrant | OAuthRefusal> {
    return control.write(async (tx) => {
      const row = await oauthStore(tx).requestForUpdate(given.code)
      if (!row || row.kind !== 'code' || row.client_id !== client.id) return unknownCode()
      if (row.status === 'used') return refuseUsed(tx, row)
      if (Date.parse(row.expires_at) <= clock.now()) return unknownCode()
      if (row.redirect_uri !== given.redirectUri)
        return refuse('invalid_grant', 'redirect_uri: is not the one that the code was asked with')
      if (!isVerifierOf(row.challenge ?? '', given.verifier))
        return refuse('invalid_grant', 'code_verifier: is not the one of the code_challenge')
      return begin(tx, row, client)
    })
  }

  async function exchangeDeviceCode(
    client: OAuthClient,
    deviceCode: string,
  ): Promise<LoginGrant | OAuthRefusal> {
    return control.write(async (tx) => {
      const store = oauthStore(tx)
      const row = await store.requestForUpdate(deviceCode)
      if (!row || row.kind !== 'device' || row.client_id !== client.id) return unknownCode()
      if (row.status === 'used') return refuseUsed(tx, row)
      const now = clock.now()
      if (Date.parse(row.expires_at) <= now)
        return refuse('expired_token', 'device_code: has expired: begin anew')
      if (row.status === 'denied') return refuse('access_denied', 'the person has said no')
      if (row.status === 'approved') return begin(tx, row, client)
      const { polled_ms: before, interval_seconds: interval } = row
      const isTooSoon = before !== null && now - before < interval * 1_000
      const interval_seconds = isTooSoon ? interval + slowerSeconds : interval
      await store.setRequest(row.hash, { polled_ms: now, interval_seconds })
      return isTooSoon
        ? refuse('slow_down', `wait ${interval_seconds} seconds between two questions`)
        : refuse('authorization_pending', 'the person has not decided yet')
    })
  }

  return { exchangeCode, exchangeDeviceCode }
}

/** The row of a new code. The code itself is only in the answer. */
export const newRequestRow = (
  code: string,
  given: Pick<OAuthRequestRow, 'kind' | 'client_id' | 'scope' | 'expires_at' | 'created_at'> &
    Partial<OAuthRequestRow>,
): OAuthRequestRow => ({
  hash: hashToken(code),
  tenant_id: '',
  person_id: '',
  status: 'pending',
  redirect_uri: null,
  challenge: null,
  user_code_hash: null,
  key_id: null,
  interval_seconds: 0,
  polled_ms: null,
  ...given,
})
