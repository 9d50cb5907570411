import { nullable, number, table, text } from '../table.ts'

/**
 * Logins of clients by OAuth. What a login opens is a row of `api_keys` of the kind `oauth`; here are its tokens, and
 * the requests that are not logins yet. All secrets are stored as hashes.
 */
export const oauthTables = {
  oauth_tokens: table({
    rows: 'control',
    key: ['hash'],
    columns: {
      tenant_id: text(),
      hash: text(),
      /** The row of `api_keys`. */
      key_id: text(),
      kind: text<'access' | 'refresh'>(),
      /** Of an access token: the hash of the refresh token that was issued with it. */
      line: nullable(text()),
      /** Of a refresh token: when it was first exchanged for another. */
      exchanged_at: nullable(text()),
      /** Of a refresh token: when an access token that was issued with it was first used. */
      used_at: nullable(text()),
      expires_at: text(),
      created_at: text(),
    },
  }),
  oauth_requests: table({
    rows: 'control',
    key: ['hash'],
    columns: {
      /** Empty until a person has chosen a workspace. */
      tenant_id: text(),
      /** Hash of the code, or of the device code. */
      hash: text(),
      kind: text<'code' | 'device'>(),
      client_id: text(),
      scope: text(),
      /** Empty until a person has decided. */
      person_id: text(),
      status: text<'pending' | 'approved' | 'denied' | 'used'>(),
      redirect_uri: nullable(text()),
      /** The PKCE challenge, by S256. */
      challenge: nullable(text()),
      /** Hash of the code that a person types. */
      user_code_hash: nullable(text()),
      /** Of a device code: seconds that its client waits between two questions. */
      interval_seconds: number(),
      polled_ms: nullable(number()),
      /** The login that came of it. */
      key_id: nullable(text()),
      expires_at: text(),
      created_at: text(),
    },
  }),
}
