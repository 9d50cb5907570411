import { HoldCreate, HoldListQuery, HoldShown } from '@steward/protocol/holds.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { makeHold, releaseHold } from './holds.ts'
import { holdStore, showHold } from './store.ts'

const holds = section('Rules of a company', ['admin'], '/v1/ext/holds')

export const holdRoutes = (deps: Ground): Route[] => [
  ...holds.plain(
    { one: 'a hold', many: 'holds', item: '/:id', answer: HoldShown },
    {
      create: {
        description:
          'While it is in force, neither retention nor a caller removes what it keeps. It is in force when the answer comes.',
        body: HoldCreate,
        run: async ({ tenant, body }) => showHold(await makeHold(deps, tenant, body)),
      },
      list: {
        description: 'Those in force; with `include_released` all.',
        query: HoldListQuery,
        scope: 'holds',
        rows: ({ db, tenant, query }, page) =>
          holdStore(db.read).list(tenant, page, query.include_released ?? false),
        show: showHold,
      },
      get: {
        run: async ({ db, tenant, params }) =>
          showHold(await holdStore(db.read).get(tenant, params.id)),
      },
    },
  ),
  holds.post(
    '/:id/release',
    {
      summary: 'Release a hold',
      description:
        'What it has kept can go from now on. The hold stays in the list. One that the operator has made is released by the operator alone.',
      answer: HoldShown,
    },
    async ({ tenant, params }) => showHold(await releaseHold(deps, tenant, params.id)),
  ),
]
