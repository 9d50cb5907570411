import {
  FileResource,
  ResourceListQuery,
  ResourceShown,
  ResourceUpdate,
} from '@steward/protocol/session-resources.ts'
import type { WorkerInput } from '../../ground/config/config.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { SessionRow } from '../rows/sessions.ts'
import { sessionStore } from '../rows/sessions.ts'
import { checkInputs } from './supported.ts'
import type { AttachTarget } from './attach.ts'
import { attachResources, detachResource } from './attach.ts'
import type { ResourceKinds } from './kinds.ts'
import { rotateToken } from './repositories.ts'
import { resourceStore, showResource } from '../rows/resources.ts'

const resources = section('Sessions', ['workspace'], '/v1/sessions/:id/resources')

const answer = ResourceShown

export function resourceRoutes({
  clock,
  seal,
  kinds,
  workerInputs,
}: Ground & {
  kinds: ResourceKinds
  workerInputs: readonly WorkerInput[]
}): Route[] {
  const change = <T>(
    db: Database,
    tenant: string,
    session: string,
    unit: (tx: Queries, held: AttachTarget, row: SessionRow) => Promise<T>,
  ) =>
    db.write(async (tx) => {
      const row = await sessionStore(tx).getOpenForUpdate(tenant, session)
      return unit(tx, { tenant, session, now: clock.now() }, row)
    })
  const one = async ({ read }: Database, tenant: string, session: string, id: string) => {
    await sessionStore(read).row(tenant, session)
    return showResource(await resourceStore(read).row(tenant, session, id))
  }

  return [
    resources.list(
      '',
      { summary: 'List the resources of a session', query: ResourceListQuery, answer },
      {
        scope: ({ id }) => `resources/${id}`,
        check: ({ db, tenant, params }) => sessionStore(db.read).row(tenant, params.id),
        rows: ({ db, tenant, params }, page) =>
          resourceStore(db.read).list(tenant, params.id, page),
        show: showResource,
      },
    ),
    resources.post(
      '',
      {
        summary: 'Add a file to a session',
        description:
          'The session gets a copy of its own, which the answer names by `file_id`. A running session has the file before the next tool call of the agent.',
        body: FileResource,
        answer,
      },
      async ({ db, tenant, params: { id }, body }) => {
        const wanted = [{ resource: body, at: '' }]
        const [added] = await change(db, tenant, id, (tx, held, row) => {
          if (row.self_hosted === 1) checkInputs(kinds, wanted, workerInputs)
          return attachResources(tx, kinds, held, wanted)
        })
        return added ? showResource(added) : {}
      },
    ),
    resources.get(
      '/:resource',
      { summary: 'Get a resource of a session', answer },
      ({ db, tenant, params: { id, resource } }) => one(db, tenant, id, resource),
    ),
    resources.post(
      '/:resource',
      {
        summary: 'Rotate the token of a repository',
        description: 'Calls of git from now on carry the new token. The old one is removed.',
        body: ResourceUpdate,
        answer,
      },
      async ({ db, tenant, params: { id, resource }, body }) =>
        showResource(
          await change(db, tenant, id, (tx, held) =>
            rotateToken(tx, { ...held, seal }, resource, body.authorization_token),
          ),
        ),
    ),
    resources.remove(
      '/:resource',
      {
        summary: 'Remove a resource from a session',
        description:
          'Only files are removed: repositories and memory stores stay as they came with the session. The file is gone before the next tool call of the agent.',
        type: 'session_resource_deleted',
      },
      ({ db, tenant, params: { id, resource } }) =>
        change(db, tenant, id, (tx, held) => detachResource(tx, kinds, held, resource)),
    ),
  ]
}
