import { api, dataOf } from '../../lib/api/client.ts'
import type { SpendLimit, SpendSummary } from '../../lib/api/types.ts'
import { formatCost } from '../../lib/format/numbers.ts'
import { centsOf } from '../../lib/format/typed.ts'
import type { LimitEdit } from './limits.ts'
import { limitWords as words } from './words.ts'

const own = words.spend
const periods = ['daily', 'monthly'] as const

export type PeriodSpend = {
  period: (typeof periods)[number]
  /** The limit that holds; undefined where none does. */
  holds: SpendSummary | undefined
  /** What the workspace has set. */
  set: SpendLimit | undefined
}

export const spendRows = (
  holding: readonly SpendSummary[],
  set: readonly SpendLimit[],
): PeriodSpend[] =>
  periods.map((period) => ({
    period,
    holds: holding.find((each) => each.period === period && each.amount !== null),
    set: set.find((each) => each.period === period && each.set_by === 'workspace'),
  }))

const bodyOf = (period: PeriodSpend['period'], cents: number) =>
  ({ period, amount: String(cents), currency: 'USD', is_enabled: true }) as const

export const dollars = (cents: string): string => formatCost(Number(cents) / 100)

export const spendEdit = (
  { period, set }: PeriodSpend,
  operators: SpendLimit | undefined,
): LimitEdit => ({
  name: `${own.one}, ${own.periods[period].toLowerCase()}`,
  text: own.text,
  label: own.label,
  unit: own.unit,
  allowed: operators?.amount ? words.allowed(dollars(operators.amount)) : words.allowedAll,
  now: set?.amount ? String(Number(set.amount) / 100) : '',
  isOwn: set !== undefined,
  read: centsOf,
  wrong: words.wrongAmount,
  call: (cents) => ({
    method: 'POST',
    path: '/v1/organizations/spend_limits',
    body: bodyOf(period, cents),
  }),
  save: (cents) => {
    if (cents !== null)
      return dataOf(api.POST('/v1/organizations/spend_limits', { body: bodyOf(period, cents) }))
    return set === undefined
      ? Promise.resolve()
      : dataOf(
          api.DELETE('/v1/organizations/spend_limits/{id}', { params: { path: { id: set.id } } }),
        )
  },
})
