/** The keys of a workspace in the shapes of the official administration: list, get, rename, deactivate; no creation. */
import {
  AdminKeyList,
  AdminKeyQuery,
  AdminKeyShown,
  AdminKeyUpdate,
} from '@steward/protocol/organization.ts'
import { conflict, invalid, notFound } from '../../ground/core/errors.ts'
import type { IdSide } from '../../ground/core/text/page.ts'
import { readIdSide, pageById } from '../../ground/core/text/page.ts'
import type { Queries } from '../../ground/database/database.ts'
import { actorOf, isAdmin } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { notifyOfKey } from './authenticate.ts'
import { revokeKey } from './revoke.ts'
import type { KeyRow } from './store.ts'
import { apiKeyStore } from './store.ts'

const keys = section('Organisation', ['admin'], '/v1/organizations/api_keys')

export function organizationKeyRoutes({ databases: { control }, clock }: Ground): Route[] {
  async function get(tenant: string, id: string): Promise<AdminKeyShown> {
    const row = await apiKeyStore(control.read).get(tenant, id)
    if (!row) throw notFound('api key', id)
    return shownKey(row, clock.now())
  }

  /** A workspace has no keys of another one. */
  async function narrowed(
    tenant: string,
    { status, workspace_id, created_by_user_id }: AdminKeyQuery,
    page: { from: IdSide | undefined; limit: number; now: number },
  ): Promise<KeyRow[]> {
    if (workspace_id && workspace_id !== tenant) return []
    const filter = { status: status || undefined, createdBy: created_by_user_id }
    return apiKeyStore(control.read).beside(tenant, { ...page, ...filter })
  }

  return [
    keys.get(
      '',
      { summary: 'List API keys of the workspace', query: AdminKeyQuery, answer: AdminKeyList },
      async ({ tenant, query }) => {
        const { limit = 20 } = query
        const from = readIdSide(query)
        if (from && !(await apiKeyStore(control.read).get(tenant, from.id)))
          throw invalid(`${from.side}_id: is no key of the workspace`)
        const now = clock.now()
        const rows = await narrowed(tenant, query, { from, limit: limit + 1, now })
        const shown = rows.map((row) => shownKey(row, now))
        return pageById(shown, limit, from)
      },
    ),
    keys.get(
      '/:id',
      { summary: 'Get an API key of the workspace', answer: AdminKeyShown },
      (call) => get(call.tenant, call.params.id),
    ),
    keys.post(
      '/:id',
      {
        summary: 'Update an API key of the workspace',
        description:
          'Renames, deactivates, activates or archives it. A key that is `inactive` opens nothing until it is `active` again; one that is `archived`, or was revoked by other ways, stays so.',
        body: AdminKeyUpdate,
        answer: AdminKeyShown,
      },
      async ({ tenant, principal, params: { id }, body: { name, status } }) => {
        const now = clock.now()
        await control.write(async (tx) => {
          const kept = await apiKeyStore(tx).get(tenant, id)
          if (!kept) throw notFound('api key', id)
          if (name) await apiKeyStore(tx).rename(tenant, id, name)
          const by = { admin: isAdmin(principal), actor: actorOf(principal), now }
          if (status) await setStatus(tx, kept, status, by)
        })
        return get(tenant, id)
      },
    ),
  ]
}

async function setStatus(
  tx: Queries,
  kept: KeyRow,
  status: 'active' | 'inactive' | 'archived',
  by: { admin: boolean; actor: string; now: number },
): Promise<void> {
  const { tenant_id: tenant, id } = kept
  if (status === 'active') {
    if (kept.archived_at !== null)
      throw conflict('status: the key is archived, and stays so: make another one')
    if (await apiKeyStore(tx).activate(tenant, id)) notifyOfKey(tx, kept)
    return
  }
  const isFinal = status === 'archived'
  if (kept.revoked_at === null) await revokeKey(tx, tenant, id, { ...by, isFinal })
  else if (isFinal && kept.archived_at === null) await apiKeyStore(tx).archive(tenant, id, by.now)
}

function statusOf(
  { revoked_at, archived_at, expires_at }: KeyRow,
  now: number,
): AdminKeyShown['status'] {
  if (archived_at !== null) return 'archived'
  if (revoked_at !== null) return 'inactive'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'active'
}

const shownKey = (row: KeyRow, now: number): AdminKeyShown => ({
  id: row.id,
  type: 'api_key',
  name: row.name,
  partial_key_hint: row.preview,
  status: statusOf(row, now),
  workspace_id: row.tenant_id,
  scope: { type: 'workspace', workspace_id: row.tenant_id },
  created_by:
    row.created_by?.startsWith('user_') === true ? { id: row.created_by, type: 'user' } : null,
  principal: null,
  expires_at: row.expires_at,
  created_at: row.created_at,
})
