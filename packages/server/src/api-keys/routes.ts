import { ApiKeyCreate, ApiKeyCreated, ApiKeyShown } from '@steward/protocol/api-keys.ts'
import { Deleted, ListOf, ListQuery } from '@steward/protocol/primitives.ts'
import type { Bus } from '../bus/bus.ts'
import { forbidden } from '../core/errors.ts'
import { pageOf, paging } from '../core/page.ts'
import type { Clock } from '../core/time.ts'
import { newToken } from '../core/token.ts'
import type { Databases } from '../database/database.ts'
import type { Route } from '../http/route.ts'
import { route } from '../http/route.ts'
import { checkEnvironment } from './environment.ts'
import { apiKeyStore } from './store.ts'
import { revocations } from './authenticate.ts'

const callers = ['workspace'] as const
const section = 'API keys'

export function apiKeyRoutes({
  databases,
  bus,
  clock,
}: {
  databases: Databases
  bus: Bus
  clock: Clock
}): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/v1/ext/api_keys',
        callers,
        section,
        summary: 'Create a key; the answer alone holds its plaintext',
        body: ApiKeyCreate,
        answer: ApiKeyCreated,
      },
      async ({ tenant, principal, body }) => {
        const environmentId = body.environment_id ?? null
        const admin = principal.kind === 'workspace' && principal.admin
        if (environmentId !== null && !admin) {
          throw forbidden('environment_id: only a workspace-admin key creates environment keys')
        }
        if (environmentId !== null)
          await checkEnvironment(databases.of(tenant).read, tenant, environmentId)
        const kind = environmentId === null ? 'workspace' : 'environment'
        const key = newToken(kind)
        const made = {
          key,
          name: body.name,
          kind,
          admin: false,
          environmentId,
          expiresAt: body.expires_at ?? null,
        } as const
        const shown = await databases.control.write((tx) =>
          apiKeyStore(tx).create(tenant, made, clock.now()),
        )
        return { ...shown, key }
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/ext/api_keys',
        callers,
        section,
        summary: 'List keys, without their plaintext',
        query: ListQuery,
        answer: ListOf(ApiKeyShown),
      },
      async ({ tenant, query }) => {
        const page = paging('api_keys', query)
        const rows = await apiKeyStore(databases.control.read).list(tenant, page)
        return pageOf('api_keys', page, rows, (key) => key)
      },
    ),
    route(
      {
        method: 'delete',
        path: '/v1/ext/api_keys/:id',
        callers,
        section,
        summary: 'Revoke a key',
        answer: Deleted('api_key_deleted'),
      },
      async ({ tenant, params }) => {
        const hash = await databases.control.write((tx) =>
          apiKeyStore(tx).revoke(tenant, params.id, clock.now()),
        )
        bus.publish(revocations, { hash })
        return { id: params.id, type: 'api_key_deleted' }
      },
    ),
  ]
}
