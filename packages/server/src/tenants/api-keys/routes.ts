import {
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyListQuery,
  ApiKeyShown,
} from '@steward/protocol/api-keys.ts'
import { dayMs } from '@steward/base/settings/kinds.ts'
import { forbidden, invalid, unauthorized } from '../../ground/core/errors.ts'
import { newToken } from '../../ground/core/security/token.ts'
import { getOpenWorkspaceForShare } from '../../ground/database/lock.ts'
import { lockCaller } from '../../ground/http/locked-caller.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { actorOf, isAdmin, isSubject } from '../../ground/http/principal.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { checkEnvironment } from './environment.ts'
import { revokeKey } from './revoke.ts'
import { apiKeyStore } from './store.ts'

const keys = section('API keys', ['workspace'], '/v1/ext/api_keys')

function checkNewKey(
  { environment_id = null, admin, read_only, reach = null }: ApiKeyCreate,
  principal: Principal,
): void {
  if (environment_id !== null && !isAdmin(principal))
    throw forbidden('environment_id: only a workspace-admin key creates environment keys')
  if (admin && !isAdmin(principal))
    throw forbidden('admin: only a workspace-admin key creates workspace-admin keys')
  if (admin && environment_id !== null)
    throw invalid('admin: an environment key cannot be a workspace-admin key')
  if (read_only && (admin || environment_id !== null))
    throw invalid('read_only: only a workspace key without admin can be read-only')
  if (reach !== null && environment_id === null)
    throw invalid('reach: only an environment key has a reach; name its environment_id')
}

/** A key that expires creates no key that outlives it. `ofMaker`: null for a person, and a key that does not expire. */
function checkExpiry(wanted: string | null, ofMaker: string | null): void {
  if (ofMaker === null || (wanted !== null && Date.parse(wanted) <= Date.parse(ofMaker))) return
  throw forbidden(
    `expires_at: a key that expires at ${ofMaker} makes no key that lasts longer: name a time up to then`,
  )
}

/** A key of a token's holder would outlive the holder's groups. */
const longestOfTokenMs = dayMs

function checkExpiryByToken(wanted: string | null, now: number): void {
  if (wanted !== null && Date.parse(wanted) <= now + longestOfTokenMs) return
  throw forbidden(
    'expires_at: a token of an identity provider makes keys of at most 24 hours: name a time up to then',
  )
}

export const apiKeyRoutes = ({ databases, clock }: Ground): Route[] =>
  keys.plain(
    { one: 'a key', many: 'keys', item: '/:id', answer: ApiKeyShown },
    {
      create: {
        description: 'No other answer contains its value.',
        body: ApiKeyCreate,
        answer: ApiKeyCreated,
        async run({ db, tenant, principal, body }) {
          const environmentId = body.environment_id ?? null
          const admin = body.admin ?? false
          checkNewKey(body, principal)
          if (isSubject(principal)) checkExpiryByToken(body.expires_at ?? null, clock.now())
          if (environmentId !== null) await checkEnvironment(db.read, tenant, environmentId)
          const kind = environmentId === null ? 'workspace' : 'environment'
          const key = newToken(kind)
          const made = {
            key,
            name: body.name,
            kind,
            admin,
            environmentId,
            reach: environmentId === null ? null : (body.reach ?? 'work'),
            expiresAt: body.expires_at ?? null,
            readOnly: body.read_only ?? false,
            createdBy: actorOf(principal),
          } as const
          const shown = await databases.control.write(async (tx) => {
            // An archived workspace has no keys: the caller was admitted before the archiving.
            await getOpenWorkspaceForShare(tx, tenant)
            checkNewKey(body, await lockCaller(tx, principal, 'workspace'))
            const maker = await apiKeyStore(tx).active(tenant, made.createdBy)
            if (principal.kind === 'workspace' && !maker)
              throw unauthorized('the API key was revoked')
            checkExpiry(made.expiresAt, maker?.expires_at ?? null)
            return apiKeyStore(tx).create(tenant, made, clock.now())
          })
          return { ...shown, key }
        },
      },
      list: {
        summary: 'List API keys, without their plaintext',
        query: ApiKeyListQuery,
        scope: 'api_keys',
        rows: ({ tenant, query }, page) =>
          apiKeyStore(databases.control.read).list(tenant, page, query.environment_id),
      },
      delete: {
        summary: 'Revoke an API key',
        description:
          'The key is refused from the next request on, and what it has open ends. The last admin key of a workspace is not revoked: 409.',
        type: 'api_key_deleted',
        async run({ tenant, principal, params }) {
          const actor = actorOf(principal)
          const by = { admin: isAdmin(principal), actor, now: clock.now() }
          await databases.control.write((tx) => revokeKey(tx, tenant, params.id, by))
        },
      },
    },
  )
