import { Deleted, ListOf } from '@steward/protocol/primitives.ts'
import type { MemoryAccess } from '@steward/protocol/session-resources.ts'
import {
  FileResource,
  ResourceListQuery,
  ResourceShown,
  ResourceUpdate,
} from '@steward/protocol/session-resources.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import type { WorkerInput } from '../../ground/config/config.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { route } from '../../ground/http/route.ts'
import type { SessionRow } from '../rows/sessions.ts'
import { sessionStore } from '../rows/sessions.ts'
import { checkInputs } from './supported.ts'
import type { AddDeps } from './add.ts'
import { addResources } from './add.ts'
import { removeResource } from './files.ts'
import type { RepositoryHosts } from './repositories.ts'
import { rotateToken } from './repositories.ts'
import { resourceStore, showResource } from '../rows/resources.ts'

const callers = ['workspace'] as const
const section = 'Sessions'
const answer = ResourceShown
const path = '/v1/sessions/:id/resources/:resource' as const

export function resourceRoutes({
  clock,
  seal,
  repositoryHosts: hosts,
  storeAccess,
  workerInputs,
}: {
  clock: Clock
  seal: Seal
  repositoryHosts: RepositoryHosts
  storeAccess: MemoryAccess
  workerInputs: readonly WorkerInput[]
}): Route[] {
  const change = <T>(
    db: Database,
    tenant: string,
    session: string,
    unit: (tx: Queries, held: AddDeps, row: SessionRow) => Promise<T>,
  ) =>
    db.write(async (tx) => {
      const row = await sessionStore(tx).takeOpen(tenant, session)
      return unit(tx, { tenant, session, now: clock.now(), seal, hosts, storeAccess }, row)
    })
  const one = async ({ read }: Database, tenant: string, session: string, id: string) => {
    await sessionStore(read).row(tenant, session)
    return showResource(await resourceStore(read).row(tenant, session, id))
  }

  return [
    route(
      {
        method: 'get',
        path: '/v1/sessions/:id/resources',
        callers,
        section,
        summary: 'List the resources of a session',
        query: ResourceListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, params: { id }, query }) => {
        const { read } = db
        await sessionStore(read).row(tenant, id)
        const scope = `resources/${id}`
        const page = paging(scope, query)
        const rows = await resourceStore(read).list(tenant, id, page)
        return pageOf(scope, page, rows, showResource)
      },
    ),
    route(
      {
        method: 'post',
        path: '/v1/sessions/:id/resources',
        callers,
        section,
        summary: 'Add a file to a session',
        body: FileResource,
        answer,
      },
      async ({ db, tenant, params: { id }, body }) => {
        const wanted = [{ resource: body, at: '' }]
        const [added] = await change(db, tenant, id, (tx, held, row) => {
          if (row.self_hosted === 1) checkInputs(wanted, workerInputs)
          return addResources(tx, held, wanted)
        })
        return added ? showResource(added) : {}
      },
    ),
    route(
      { method: 'get', path, callers, section, summary: 'Get a resource of a session', answer },
      ({ db, tenant, params: { id, resource } }) => one(db, tenant, id, resource),
    ),
    route(
      {
        method: 'post',
        path,
        callers,
        section,
        summary: 'Rotate the token of a repository',
        body: ResourceUpdate,
        answer,
      },
      async ({ db, tenant, params: { id, resource }, body }) =>
        showResource(
          await change(db, tenant, id, (tx, held) =>
            rotateToken(tx, held, resource, body.authorization_token),
          ),
        ),
    ),
    route(
      {
        method: 'delete',
        path,
        callers,
        section,
        summary: 'Remove a resource from a session',
        answer: Deleted('session_resource_deleted'),
      },
      async ({ db, tenant, params: { id, resource } }) => {
        await change(db, tenant, id, (tx, held) => removeResource(tx, held, resource))
        return { id: resource, type: 'session_resource_deleted' }
      },
    ),
  ]
}
