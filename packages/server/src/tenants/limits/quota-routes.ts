import type { Quota, QuotaName } from '@steward/protocol/quotas.ts'
import { QuotaShown, QuotaUpdate, quotaNames } from '@steward/protocol/quotas.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import type { Clock } from '@steward/base/time.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Database, Databases } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { heldQuota } from './holding.ts'
import type { Limits } from './limits.ts'
import { workspaceLimitStore } from './store.ts'

const quotas = section('Limits', ['workspace'], '/v1/ext/quotas')

/** How much of each quota a workspace uses; the rooms of the things count. */
export type QuotaUse = Record<QuotaName, (db: Database, tenant: string) => Promise<number>>

type Deps = { limits: Limits; databases: Databases; clock: Clock; quotaUse: QuotaUse }

export function quotaRoutes({ limits, databases, clock, quotaUse }: Deps): Route[] {
  async function show(db: Database, tenant: string, name: QuotaName): Promise<Quota> {
    const { rows } = await limits.workspaces.read(tenant)
    const { allowed, own } = heldQuota(rows, name)
    const used = await quotaUse[name](db, tenant)
    return { type: 'quota', name, limit: own ?? allowed, allowed, used }
  }

  return [
    quotas.get(
      '',
      { summary: 'List the quotas of the workspace', answer: ListOf(QuotaShown) },
      async ({ db, tenant }) => {
        const data = await Promise.all(quotaNames.map((name) => show(db, tenant, name)))
        return {
          data,
          has_more: false,
          next_page: null,
          prev_page: null,
          first_id: null,
          last_id: null,
        }
      },
    ),
    quotas.post(
      '/:name',
      {
        callers: ['admin'],
        summary: 'Lower a quota of the workspace',
        description:
          'A value above what the operator allows is kept, and the lower of the two holds.',
        body: QuotaUpdate,
        answer: QuotaShown,
      },
      async ({ db, tenant, params, body: { limit } }) => {
        const name = quotaNames.find((each) => each === params.name)
        if (!name) throw notFound('quota', params.name)
        const key = { name, source: 'workspace' } as const
        await databases.control.write(async (tx) => {
          const store = workspaceLimitStore(tx)
          if (limit === null) await store.remove(tenant, key)
          else await store.set(tenant, { ...key, value: limit, period_ms: 0 }, clock.now())
        })
        await limits.workspaces.changed(tenant)
        return show(db, tenant, name)
      },
    ),
  ]
}
