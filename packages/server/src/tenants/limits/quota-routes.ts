import type { Quota, QuotaName } from '@steward/protocol/quotas.ts'
import { QuotaShown, QuotaUpdate, quotaNames } from '@steward/protocol/quotas.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { notFound } from '../../ground/core/errors.ts'
import { wholePage } from '../../ground/core/text/page.ts'
import type { Database } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { Limits } from './limits.ts'
import { dayOf } from './quotas.ts'
import { workspaceLimitStore } from './store.ts'
import { quotaUseStore } from './use/store.ts'

const quotas = section('Limits', ['workspace'], '/v1/ext/quotas')

/** The present use of this process by a workspace. */
export type ProcessUse = Record<
  'sessions_running' | 'sandboxes' | 'streams' | 'messages' | 'tunnels',
  { held: (tenant: string) => number }
>

export function quotaRoutes({
  limits,
  databases,
  clock,
  heldHere,
}: Ground & { limits: Limits; heldHere: ProcessUse }): Route[] {
  async function usedOf({ read }: Database, tenant: string, name: QuotaName) {
    switch (name) {
      case 'agents':
      case 'memory_stores':
      case 'stored_bytes':
        return quotaUseStore(read).used(tenant, name)
      case 'sessions_daily':
        return quotaUseStore(read).used(tenant, name, dayOf(clock.now()))
      case 'folder_bytes':
      case 'folder_files':
        return null
      default:
        return heldHere[name].held(tenant)
    }
  }

  async function show(db: Database, tenant: string, name: QuotaName): Promise<Quota> {
    const { value, source, allowed, own } = await limits.quotas.held(tenant, name)
    const used = await usedOf(db, tenant, name)
    return { type: 'quota', name, value, source, limit: own ?? allowed, allowed, used }
  }

  return [
    quotas.get(
      '',
      { summary: 'List the quotas of the workspace', answer: ListOf(QuotaShown) },
      async ({ db, tenant }) => {
        const data = await Promise.all(quotaNames.map((name) => show(db, tenant, name)))
        return wholePage(data)
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
