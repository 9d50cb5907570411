import { iso } from '@steward/base/time.ts'
import type { SpendLimit } from '@steward/protocol/spend-limits.ts'
import {
  SpendLimitCreate,
  SpendLimitListQuery,
  SpendLimitQuery,
  SpendLimitShown,
  SpendLimitUpdate,
  SpendSummaryShown,
} from '@steward/protocol/spend-limits.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { forbidden, notFound } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { inCents, centsToUnits } from '../../../ground/core/text/money.ts'
import { wholePage } from '../../../ground/core/text/page.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { Limits } from '../limits.ts'
import type { SpendRow } from './store.ts'
import { spendLimitStore } from './store.ts'

const spendLimits = section('Limits', ['admin'], '/v1/organizations/spend_limits')

const show = (row: SpendRow): SpendLimit => ({
  id: row.id,
  type: 'spend_limit',
  scope: { type: 'workspace', workspace_id: row.tenant_id },
  amount: row.amount === null ? null : inCents(row.amount).amount,
  currency: 'USD',
  period: row.period,
  is_enabled: row.is_enabled === 1,
  set_by: row.source,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

const unitsOrNull = (amount: string | null) => (amount === null ? null : centsToUnits(amount))

export function spendLimitRoutes({
  limits,
  databases: { control },
  clock,
}: Ground & { limits: Limits }): Route[] {
  async function rowOf(tenant: string, id: string): Promise<SpendRow> {
    const row = (await spendLimitStore(control.read).all(tenant)).find((each) => each.id === id)
    if (!row) throw notFound('spend limit', id)
    return row
  }

  /** Throws for a limit of the operator, which the workspace cannot change. */
  async function ownRow(tenant: string, id: string): Promise<SpendRow> {
    const row = await rowOf(tenant, id)
    if (row.source === 'operator')
      throw forbidden(
        `the spend limit ${id} was set by the operator of the server: set a lower one beside it, or ask the operator`,
      )
    return row
  }

  return [
    spendLimits.get(
      '',
      {
        summary: 'List the spend limits of the workspace',
        query: SpendLimitListQuery,
        answer: ListOf(SpendLimitShown),
      },
      async ({ tenant, query: { period, scope_type: types, workspace_id: of } }) => {
        const isElsewhere = (types && !types.includes('workspace')) || (of && of !== tenant)
        if (isElsewhere) return wholePage([])
        const rows = await spendLimitStore(control.read).all(tenant)
        return wholePage(rows.filter((row) => !period || period.includes(row.period)).map(show))
      },
    ),
    spendLimits.post(
      '',
      {
        summary: 'Set a spend limit of the workspace for each day or month',
        description:
          'A limit that the workspace has set for the period before is overwritten. Of the limits of the workspace and of the operator the lower holds.',
        body: SpendLimitCreate,
        answer: SpendLimitShown,
      },
      async ({ tenant, body: { scope, period, amount, is_enabled } }) => {
        if (scope && scope.workspace_id !== tenant) throw notFound('workspace', scope.workspace_id)
        const at = iso(clock.now())
        const row: SpendRow = {
          tenant_id: tenant,
          id: newId('spend_limit'),
          period,
          source: 'workspace',
          amount: unitsOrNull(amount),
          is_enabled: is_enabled ? 1 : 0,
          created_at: at,
          updated_at: at,
        }
        const set = await control.write((tx) => spendLimitStore(tx).set(row))
        await limits.workspaces.changed(tenant)
        return show(set)
      },
    ),
    spendLimits.get(
      '/effective',
      {
        summary: 'List the spend limits that hold, and the spending so far',
        query: SpendLimitQuery,
        answer: ListOf(SpendSummaryShown),
      },
      async ({ tenant, query: { period: wanted } }) => {
        const all = await limits.spending.summaries(tenant)
        return wholePage(all.filter(({ period }) => !wanted || wanted.includes(period)))
      },
    ),
    spendLimits.get(
      '/:id',
      { summary: 'Get a spend limit', answer: SpendLimitShown },
      async ({ tenant, params: { id } }) => show(await rowOf(tenant, id)),
    ),
    spendLimits.post(
      '/:id',
      {
        isExtension: true,
        summary: 'Update a spend limit',
        description:
          'Changes the amount, or switches the limit on or off; within a second in all processes. A limit of the operator is refused with 403.',
        body: SpendLimitUpdate,
        answer: SpendLimitShown,
      },
      async ({ tenant, params: { id }, body: { amount, is_enabled } }) => {
        const row = await ownRow(tenant, id)
        const change = {
          ...(amount !== undefined && { amount: unitsOrNull(amount) }),
          ...(is_enabled !== undefined && { is_enabled: is_enabled ? 1 : 0 }),
        }
        await control.write((tx) => spendLimitStore(tx).update(tenant, row, change, clock.now()))
        await limits.workspaces.changed(tenant)
        return show(await rowOf(tenant, id))
      },
    ),
    spendLimits.remove(
      '/:id',
      {
        summary: 'Remove a spend limit',
        description: 'Limits of the operator are not removed: 403.',
        type: 'spend_limit_deleted',
      },
      async ({ tenant, params: { id } }) => {
        const row = await ownRow(tenant, id)
        await control.write((tx) => spendLimitStore(tx).remove(tenant, row))
        await limits.workspaces.changed(tenant)
      },
    ),
  ]
}
