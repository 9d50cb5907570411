/** Changes of a session's budget. */
import type { SessionBudget } from '@steward/protocol/budgets.ts'
import { invalid } from '../ground/core/errors.ts'
import { unitsOf } from '../ground/core/money.ts'
import type { Queries } from '../ground/database/database.ts'
import type { Head } from './log/head.ts'
import { stateOf, usageOf } from './log/head.ts'
import { waitsBehind } from './log/inbox.ts'
import type { SessionRow } from './rows/sessions.ts'

export const budgetUnits = (budget: SessionBudget | null | undefined): number | null =>
  budget ? unitsOf(budget.max_list_cost.amount) : null

/** What the head gets with another budget; undefined when nothing would change. [sessions/budget/raise] [sessions/budget/remove] */
export function budgetChange(
  head: Head,
  budget: SessionBudget | null | undefined,
): { budget: number | null; budget_told: 0 } | undefined {
  const next = budgetUnits(budget)
  if (budget === undefined || next === head.budget) return undefined
  if (head.budget === null)
    throw invalid(
      'budget: a session gets its budget when it is created, and none after it was removed',
      'budget_create_only',
    )
  if (next !== null && next <= head.list_cost) {
    const spent = usageOf(head, 0).list_cost?.amount ?? '0'
    throw invalid(
      `budget.max_list_cost.amount: must be above what the session has cost, which is ${spent} cents`,
      'budget_not_raised',
    )
  }
  return { budget: next, budget_told: 0 }
}

/** Whether a session goes on by itself with this budget: with the turn that was left at the old one, or with messages that wait. */
export async function resumesWith(
  tx: Queries,
  { tenant_id, id }: SessionRow,
  head: Head,
): Promise<boolean> {
  const state = stateOf(head)
  if (state === 'budget_raised') return true
  return state === 'resting' && (await waitsBehind(tx, tenant_id, id, 0))
}
