import type { Dream, DreamUsage } from '@steward/protocol/dreams.ts'
import { DreamCreate, DreamListQuery, DreamShown } from '@steward/protocol/dreams.ts'
import type { Reads } from '../../ground/database/database.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { toMemoryActor } from '../../resources/memory-stores/actor.ts'
import type { DreamRow } from './store.ts'
import { dreamStore, showDream } from './store.ts'
import { usageOfSession } from './usage.ts'
import { archiveDream, cancelDream, createDream } from './write.ts'
import { rows } from '../../ground/database/rows.ts'

const dreams = section('Dreams', ['workspace'], '/v1/dreams')

async function shown(read: Reads, row: DreamRow): Promise<Dream> {
  let usage: DreamUsage | undefined
  if (row.session_id !== null && row.usage === null)
    usage = await usageOfSession(read, row.tenant_id, row.session_id)
  return showDream(row, usage)
}

export function dreamRoutes(deps: Ground): Route[] {
  return [
    ...dreams.plain(
      { one: 'a dream', many: 'dreams', item: '/:id', answer: DreamShown },
      {
        create: {
          description: 'It runs in a session of its own. Ask for it until it has ended.',
          body: DreamCreate,
          async run({ db, tenant, body, principal }) {
            const asked = { body, actor: toMemoryActor({ principal }) }
            const row = await createDream(deps, { db, tenant }, asked)
            return shown(db.read, row)
          },
        },
        list: {
          query: DreamListQuery,
          scope: 'dreams',
          async rows({ db, tenant, query }, page) {
            const found = await dreamStore(db.read).list(tenant, page, {
              archived: query.include_archived ?? false,
              made: timeComparisons(query),
              statuses: query.statuses,
            })
            const all = await Promise.all(found.rows.map((row) => shown(db.read, row)))
            return { rows: all, more: found.more }
          },
        },
        get: {
          run: async ({ db, tenant, params }) =>
            shown(db.read, await rows(db.read, 'dreams').get(tenant, params.id)),
        },
        archive: {
          description: 'Refused before its end.',
          run: async ({ db, tenant, params }) =>
            shown(db.read, await archiveDream(deps, { db, tenant }, params.id)),
        },
      },
    ),
    dreams.post(
      '/:id/cancel',
      {
        summary: 'Cancel a dream',
        description: 'What it has written stays.',
        answer: DreamShown,
      },
      async ({ db, tenant, params }) => {
        const row = await cancelDream(deps, { db, tenant }, params.id)
        return shown(db.read, row)
      },
    ),
  ]
}
