import {
  EnvironmentCreate,
  EnvironmentListQuery,
  EnvironmentShown,
  EnvironmentUpdate,
} from '@steward/protocol/environments.ts'
import { Deleted, ListOf } from '@steward/protocol/primitives.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import type { Clock } from '@steward/base/time.ts'
import { recordBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { also, route } from '../../ground/http/route.ts'
import { recordOf, updatedRecord } from './record.ts'
import { environmentStore } from './store.ts'

const callers = ['workspace'] as const
const section = 'Environments'
const answer = EnvironmentShown

export function environmentRoutes({ clock }: { clock: Clock }): Route[] {
  const update = route(
    {
      method: 'post',
      path: '/v1/environments/:id',
      callers,
      section,
      summary: 'Update an environment',
      description: 'Only sandboxes that start afterwards see the change.',
      body: EnvironmentUpdate,
      limits: recordBody,
      answer,
    },
    ({ db, tenant, params, body }) =>
      db.write((tx) =>
        environmentStore(tx).update(
          tenant,
          params.id,
          (kept) => updatedRecord(kept, body),
          clock.now(),
        ),
      ),
  )

  return [
    route(
      {
        method: 'post',
        path: '/v1/environments',
        callers,
        section,
        summary: 'Create an environment',
        body: EnvironmentCreate,
        limits: recordBody,
        answer,
      },
      ({ db, tenant, body }) =>
        db.write((tx) => environmentStore(tx).create(tenant, recordOf(body), clock.now())),
    ),
    route(
      {
        method: 'get',
        path: '/v1/environments',
        callers,
        section,
        summary: 'List environments',
        query: EnvironmentListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, query }) => {
        const page = paging('environments', query)
        const store = environmentStore(db.read)
        const rows = await store.list(tenant, page, query.include_archived ?? false)
        return pageOf('environments', page, rows, (environment) => environment)
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/environments/:id',
        callers,
        section,
        summary: 'Get an environment',
        answer,
      },
      ({ db, tenant, params }) => environmentStore(db.read).get(tenant, params.id),
    ),
    update,
    also(update, { method: 'patch' }),
    route(
      {
        method: 'post',
        path: '/v1/environments/:id/archive',
        callers,
        section,
        summary: 'Archive an environment',
        answer,
      },
      ({ db, tenant, params }) =>
        db.write((tx) => environmentStore(tx).archive(tenant, params.id, clock.now())),
    ),
    route(
      {
        method: 'delete',
        path: '/v1/environments/:id',
        callers,
        section,
        summary: 'Delete an environment that nothing uses',
        answer: Deleted('environment_deleted'),
      },
      async ({ db, tenant, params }) => {
        await db.write((tx) => environmentStore(tx).remove(tenant, params.id, clock.now()))
        return { id: params.id, type: 'environment_deleted' }
      },
    ),
  ]
}
