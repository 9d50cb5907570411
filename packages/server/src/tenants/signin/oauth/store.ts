/** Tokens of logins, and requests for logins. All are found by the hash of a secret that only the caller has. */
import { iso } from '@steward/base/time.ts'
import { hashToken } from '../../../ground/core/security/token.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { forUpdate } from '../../../ground/database/lock.ts'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { selectStatement } from '../../../ground/database/statement.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'

export type OAuthRequestRow = Tables['oauth_requests']
export type OAuthTokenRow = Tables['oauth_tokens']

/** The access token with its login, the person and the person's role at this moment; for a subject, the login's role. */
const loginByAccessToken = selectStatement((db, slot: SlotFor<string>) =>
  db
    .selectFrom('oauth_tokens as token')
    .innerJoin('api_keys as login', 'login.id', 'token.key_id')
    .leftJoin('people as person', 'person.id', 'login.created_by')
    .leftJoin('members as member', (join) =>
      join
        .onRef('member.person_id', '=', 'login.created_by')
        .onRef('member.tenant_id', '=', 'login.tenant_id'),
    )
    .innerJoin('workspaces as workspace', 'workspace.id', 'login.tenant_id')
    .leftJoin('oauth_tokens as line', 'line.hash', 'token.line')
    .select([
      'login.id as key_id',
      'login.tenant_id',
      'login.last_used_at',
      'token.expires_at',
      'token.line',
      'line.used_at as line_used_at',
      'login.created_by',
      'login.name as login_name',
      'login.role as subject_role',
      'person.name',
      'person.email',
      'member.role',
    ])
    .where(
      'token.hash',
      '=',
      slot((hash) => hash),
    )
    .where('token.kind', '=', 'access')
    .where('login.revoked_at', 'is', null)
    .where('workspace.archived_at', 'is', null)
    .where('workspace.deleted_at', 'is', null),
)

const oauthReads = (db: Reads) => ({
  /** Across tenants. */
  loginOf: async (tokenHash: string) => (await loginByAccessToken(db, tokenHash))[0],

  /** Across tenants: finds the token of a request. */
  token: (token: string): Promise<OAuthTokenRow | undefined> =>
    db
      .selectFrom('oauth_tokens')
      .selectAll()
      .where('hash', '=', hashToken(token))
      .executeTakeFirst(),

  /** Across tenants: finds the device request of a code that a person types. */
  byUserCode: (code: string, now: number): Promise<OAuthRequestRow | undefined> =>
    db
      .selectFrom('oauth_requests')
      .selectAll()
      .where('user_code_hash', '=', hashToken(code))
      .where('status', '=', 'pending')
      .where('expires_at', '>', iso(now))
      .executeTakeFirst(),
})

const oauthWrites = (db: Queries) => ({
  async addRequest(row: OAuthRequestRow): Promise<void> {
    await db.insertInto('oauth_requests').values(row).execute()
  },

  /** Across tenants: locks the request of a code, or of a device code, until the transaction ends. */
  requestForUpdate: (code: string): Promise<OAuthRequestRow | undefined> =>
    forUpdate(
      db,
      db.selectFrom('oauth_requests').selectAll().where('hash', '=', hashToken(code)),
    ).executeTakeFirst(),

  async setRequest(hash: string, set: Partial<OAuthRequestRow>): Promise<void> {
    await db.updateTable('oauth_requests').set(set).where('hash', '=', hash).execute()
  },

  /** False when somebody has decided already, or the code has expired. */
  async decide(
    userCode: string,
    set: Pick<OAuthRequestRow, 'status' | 'person_id' | 'tenant_id'>,
    now: number,
  ): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('oauth_requests')
      .set(set)
      .where('user_code_hash', '=', hashToken(userCode))
      .where('status', '=', 'pending')
      .where('expires_at', '>', iso(now))
      .executeTakeFirst()
    return numUpdatedRows > 0n
  },

  async addTokens(rows: readonly OAuthTokenRow[]): Promise<void> {
    await db
      .insertInto('oauth_tokens')
      .values([...rows])
      .execute()
  },

  /** Marks a refresh token as exchanged. It is kept for a while, so that its reuse is noticed. */
  async markExchanged(hash: string, set: { exchanged_at: string; expires_at: string }) {
    await db.updateTable('oauth_tokens').set(set).where('hash', '=', hash).execute()
  },

  /** Records that access tokens of these lines were used. */
  async noteUses(lines: readonly string[], now: number): Promise<void> {
    await db
      .updateTable('oauth_tokens')
      .set({ used_at: iso(now) })
      .where('hash', 'in', lines)
      .where('used_at', 'is', null)
      .execute()
  },

  async removeTokens(tenant: string, keyId: string): Promise<void> {
    await db
      .deleteFrom('oauth_tokens')
      .where('tenant_id', '=', tenant)
      .where('key_id', '=', keyId)
      .execute()
  },

  async removeExpired(now: number): Promise<void> {
    for (const table of ['oauth_tokens', 'oauth_requests'] as const)
      await db.deleteFrom(table).where('expires_at', '<', iso(now)).execute()
  },
})

export const oauthStore = defineStore(oauthReads, oauthWrites)
