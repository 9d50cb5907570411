import {
  EnvironmentCreate,
  EnvironmentListQuery,
  EnvironmentShown,
  EnvironmentUpdate,
} from '@steward/protocol/environments.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import { recordBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { toEnvironmentRecord, updateRecord } from './record.ts'
import { environmentStore } from './store.ts'

const environments = section('Environments', ['workspace'], '/v1/environments')

export const environmentRoutes = ({
  clock,
  limits,
}: Ground & { limits: { rules: Rules } }): Route[] =>
  environments.plain(
    { one: 'an environment', many: 'environments', item: '/:id', answer: EnvironmentShown },
    {
      create: {
        description:
          'A name belongs to one environment that is not archived: a second one is refused with 409.',
        body: EnvironmentCreate,
        limits: recordBody,
        async run({ db, tenant, body }) {
          await checkImage(limits.rules, tenant, body.base_image)
          return db.write((tx) =>
            environmentStore(tx).create(tenant, toEnvironmentRecord(body), clock.now()),
          )
        },
      },
      list: {
        query: EnvironmentListQuery,
        scope: 'environments',
        rows: ({ db, tenant, query }, page) =>
          environmentStore(db.read).list(tenant, page, query.include_archived ?? false),
      },
      get: { run: ({ db, tenant, params }) => environmentStore(db.read).get(tenant, params.id) },
      update: {
        description: 'Only sandboxes that start afterwards see the change.',
        body: EnvironmentUpdate,
        limits: recordBody,
        async run({ db, tenant, params, body }) {
          await checkImage(limits.rules, tenant, body.base_image)
          const change = (kept: Parameters<typeof updateRecord>[0]) => updateRecord(kept, body)
          return db.write((tx) =>
            environmentStore(tx).update(tenant, params.id, change, clock.now()),
          )
        },
      },
      archive: {
        description:
          'The environment takes no update and no new session, and its name is free again. Its sessions go on.',
        run: ({ db, tenant, params }) =>
          db.write((tx) => environmentStore(tx).archive(tenant, params.id, clock.now())),
      },
      delete: {
        description:
          'Refused with 409 while an agent names the environment or a session that lives uses it.',
        summary: 'Delete an environment that nothing uses',
        type: 'environment_deleted',
        run: ({ db, tenant, params }) =>
          db.write((tx) => environmentStore(tx).remove(tenant, params.id, clock.now())),
      },
    },
  )

async function checkImage(rules: Rules, tenant: string, image: string | null | undefined) {
  if (image) await rules.check(tenant, 'images', [image], 'base_image')
}
