/** Logins: the keys of clients that act for a person, by OAuth. The rights of a login are those of its person. */
import { iso } from '@steward/base/time.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import type { AuditActor } from '../../ground/core/security/audited-call.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { forUpdate, getOpenWorkspaceForShare } from '../../ground/database/lock.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { KeyRow } from './store.ts'

export type NewLogin = {
  client: { id: string; name: string }
  person: string
  actor: AuditActor
  expiresAt: string
  /** For a subject of a company's provider, who is no member. */
  role?: Role | null
}

const loginsOf = (db: Reads, tenant: string) =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .where('kind', '=', 'oauth')
    .where('tenant_id', '=', tenant)
    .where('revoked_at', 'is', null)

/** A login has no secret of its own: its tokens are rows of `oauth_tokens`. */
const newRow = (
  tenant: string,
  id: string,
  { client, person, expiresAt, role = null, now }: Omit<NewLogin, 'actor'> & { now: number },
): KeyRow => ({
  tenant_id: tenant,
  id,
  kind: 'oauth',
  name: client.name,
  client_id: client.id,
  admin: 0,
  read_only: 0,
  environment_id: null,
  reach: null,
  role,
  created_by: person,
  last_used_at: null,
  hash: `no hash ${id}`,
  preview: '…',
  expires_at: expiresAt,
  revoked_at: null,
  archived_at: null,
  created_at: iso(now),
})

async function setLogin(
  db: Queries,
  tenant: string,
  id: string,
  set: Partial<KeyRow>,
): Promise<void> {
  const login = db.updateTable('api_keys').set(set).where('tenant_id', '=', tenant)
  await login.where('id', '=', id).execute()
}

const loginWrites = (db: Queries) => ({
  async create(tenant: string, { actor, ...made }: NewLogin, now: number): Promise<string> {
    await getOpenWorkspaceForShare(db, tenant)
    const id = newId('api_key')
    const row = newRow(tenant, id, { ...made, now })
    await db.insertInto('api_keys').values(row).execute()
    const { kind, name, client_id, created_by } = row
    const after = { kind, name, client_id, created_by }
    auditChange({
      action: 'api_key.create',
      type: 'api_key',
      id,
      workspace: tenant,
      actor,
      after,
    })
    return id
  },

  /** Locks the login of a subject until the transaction ends. */
  findOfSubject: (tenant: string, client: string, subject: string): Promise<KeyRow | undefined> =>
    forUpdate(
      db,
      loginsOf(db, tenant).where('created_by', '=', subject).where('client_id', '=', client),
    ).executeTakeFirst(),

  async setRole(tenant: string, id: string, set: { role: Role; name: string }): Promise<void> {
    await setLogin(db, tenant, id, set)
  },

  /** Locks the login until the transaction ends. Undefined for one that was ended. */
  findForUpdate: (tenant: string, id: string): Promise<KeyRow | undefined> =>
    forUpdate(db, loginsOf(db, tenant).where('id', '=', id)).executeTakeFirst(),

  /** Renewing a login is a use of it. */
  async extend(
    tenant: string,
    id: string,
    { expiresAt, now }: { expiresAt: string; now: number },
  ): Promise<void> {
    await setLogin(db, tenant, id, { expires_at: expiresAt, last_used_at: iso(now) })
  },

  /** `reason` goes into the audit. */
  async end(
    tenant: string,
    id: string,
    { now, reason, actor }: { now: number; reason: string; actor?: AuditActor },
  ): Promise<void> {
    const at = iso(now)
    await setLogin(db, tenant, id, { revoked_at: at, archived_at: at })
    const after = { revoked_at: at, reason }
    auditChange({
      action: 'api_key.delete',
      type: 'api_key',
      id,
      workspace: tenant,
      after,
      ...(actor && { actor }),
    })
  },

  /** Ends all logins of the person, in `tenant` or in all workspaces. Returns them for the notification of others. */
  async endAllOf(
    person: string,
    now: number,
    tenant?: string,
  ): Promise<{ id: string; hash: string }[]> {
    const at = iso(now)
    let logins = db
      .updateTable('api_keys')
      .set({ revoked_at: at, archived_at: at })
      .where('kind', '=', 'oauth')
      .where('created_by', '=', person)
      .where('revoked_at', 'is', null)
    if (tenant !== undefined) logins = logins.where('tenant_id', '=', tenant)
    const ended = await logins.returning(['tenant_id', 'id', 'hash']).execute()
    for (const { tenant_id: workspace, id } of ended) {
      const after = { revoked_at: at, reason: 'its person has left' }
      auditChange({ action: 'api_key.delete', type: 'api_key', id, workspace, after })
    }
    return ended
  },

  /** Deletes logins that ended before `before`. */
  async removeEnded(before: number): Promise<void> {
    await db
      .deleteFrom('api_keys')
      .where('kind', '=', 'oauth')
      .where((eb) =>
        eb.or([eb('expires_at', '<', iso(before)), eb('revoked_at', '<', iso(before))]),
      )
      .execute()
  },
})

export const loginStore = defineStore(() => ({}), loginWrites)
