import type { RequestLimiter, WorkspaceRateLimit } from '@steward/protocol/rate-limits.ts'
import {
  RateLimitQuery,
  RateLimitShown,
  WorkspaceRateLimitQuery,
  WorkspaceRateLimitShown,
  WorkspaceRateLimitUpdate,
} from '@steward/protocol/rate-limits.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { invalid, notFound } from '../../ground/core/errors.ts'
import type { Rate, RequestClass } from '../../ground/core/fairness/rates.ts'
import { wholePage } from '../../ground/core/text/page.ts'
import { requestClasses, unitOf } from '../../ground/core/fairness/rates.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import type { EffectiveRate } from './effective-limits.ts'
import { effectiveRate, lowerRate } from './effective-limits.ts'
import type { Limits } from './limits.ts'
import { workspaceLimitStore } from './store.ts'

const rates = section('Limits', ['admin'], '/v1/organizations')

const idOf = (of: RequestClass) => `rl_${of}`
const groupOf = (of: RequestClass) => ({ id: `rlg_${of}`, type: of })
const limiterOf = (rate: Rate): RequestLimiter => `requests_per_${unitOf(rate)}`

function checkWorkspace(tenant: string, workspace: string): void {
  if (workspace !== tenant) throw notFound('workspace', workspace)
}

const show = (tenant: string, of: RequestClass, held: EffectiveRate): WorkspaceRateLimit => ({
  rate_limit_id: idOf(of),
  type: 'workspace_rate_limit',
  workspace_id: tenant,
  group: groupOf(of),
  models: null,
  limits: [
    {
      type: limiterOf(held.ceiling),
      value: held.own ?? lowerRate(held).limit,
      org_limit: held.ceiling.limit,
      source: { type: held.own === undefined ? 'organization' : 'workspace' },
    },
  ],
})

export function rateLimitRoutes({
  limits,
  databases,
  clock,
}: Ground & {
  limits: Limits
}): Route[] {
  /** The limited request classes, each with the effective rate of the workspace. */
  async function heldBy(tenant: string) {
    const { rows } = await limits.workspaces.read(tenant)
    const server = limits.serverRates()
    return requestClasses.flatMap((of) => {
      const held = effectiveRate(server, rows, of)
      return held ? [{ of, held }] : []
    })
  }

  return [
    rates.get(
      '/rate_limits',
      {
        summary: 'List the rate limits of the server',
        description: 'Empty where rate limits are off.',
        query: RateLimitQuery,
        answer: ListOf(RateLimitShown),
      },
      async ({ query: { group_type, model } }) => {
        if (model) throw notFound('rate limit of model', model)
        const server = limits.serverRates()
        const shown = requestClasses.flatMap((of) => {
          const rate = server[of]
          if (!rate || (group_type && group_type !== of)) return []
          const value = { type: limiterOf(rate), value: rate.limit }
          return [
            {
              id: idOf(of),
              type: 'rate_limit',
              group: groupOf(of),
              models: null,
              limits: [value],
            },
          ]
        })
        return wholePage(shown)
      },
    ),
    rates.get(
      '/workspaces/:id/rate_limits',
      {
        summary: 'List the rate limits of the workspace',
        query: WorkspaceRateLimitQuery,
        answer: ListOf(WorkspaceRateLimitShown),
      },
      async ({ tenant, params, query: { group_type, include_inherited } }) => {
        checkWorkspace(tenant, params.id)
        const all = await heldBy(tenant)
        const asked = all.filter(
          ({ of, held }) =>
            (!group_type || group_type === of) && (include_inherited || held.own !== undefined),
        )
        return wholePage(asked.map(({ of, held }) => show(tenant, of, held)))
      },
    ),
    rates.post(
      '/workspaces/:id/rate_limits/:rate_limit_id',
      {
        summary: 'Lower a rate limit of the workspace',
        description:
          'A value above what the operator allows is kept, and the lower of the two holds.',
        body: WorkspaceRateLimitUpdate,
        answer: WorkspaceRateLimitShown,
      },
      async ({ tenant, params, body }) => {
        checkWorkspace(tenant, params.id)
        const found = (await heldBy(tenant)).find(({ of }) => idOf(of) === params.rate_limit_id)
        if (!found) throw notFound('rate limit', params.rate_limit_id)
        const { of, held } = found
        const [{ type, value } = { type: undefined, value: null }] = body.limits
        const expected = limiterOf(held.ceiling)
        if (type !== expected) throw invalid(`limits.0.type: this limit is of ${expected}`)
        const key = { name: of, source: 'workspace' } as const
        await databases.control.write(async (tx) => {
          const store = workspaceLimitStore(tx)
          if (value === null) await store.remove(tenant, key)
          else
            await store.set(
              tenant,
              { ...key, value, period_ms: held.ceiling.periodMs },
              clock.now(),
            )
        })
        await limits.workspaces.changed(tenant)
        const now = (await heldBy(tenant)).find((each) => each.of === of)
        return show(tenant, of, now?.held ?? held)
      },
    ),
  ]
}
