/** Logins of devices without a browser: the device shows a code, and its person types it elsewhere. RFC 8628 */
import { randomInt } from 'node:crypto'
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { iso } from '@steward/base/time.ts'
import { hashToken, newToken } from '../../../ground/core/security/token.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { OAuthClient } from './clients.ts'
import { newRequestRow } from './exchange.ts'
import { oauthStore } from './store.ts'

const validMs = 10 * minuteMs
const intervalSeconds = 5

/** Letters that are not taken for others, and make no words. RFC 8628 6.1 */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

const newUserCode = (): string =>
  Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')

/** The code as it is stored, however a person has typed it. */
export const normalUserCode = (typed: string): string =>
  typed.toUpperCase().replaceAll(/[^A-Z]/g, '')

export async function beginDeviceLogin(
  { databases: { control }, clock }: Pick<Ground, 'databases' | 'clock'>,
  { client, scope, own }: { client: OAuthClient; scope: string; own: string },
): Promise<object> {
  const [code, userCode] = [newToken('device'), newUserCode()]
  const now = clock.now()
  const row = newRequestRow(code, {
    kind: 'device',
    client_id: client.id,
    scope,
    user_code_hash: hashToken(userCode),
    interval_seconds: intervalSeconds,
    expires_at: iso(now + validMs),
    created_at: iso(now),
  })
  await control.write((tx) => oauthStore(tx).addRequest(row))
  const shown = `${userCode.slice(0, 4)}-${userCode.slice(4)}`
  return {
    device_code: code,
    user_code: shown,
    verification_uri: `${own}/oauth/device`,
    verification_uri_complete: `${own}/oauth/device?user_code=${shown}`,
    expires_in: validMs / 1_000,
    interval: intervalSeconds,
  }
}
