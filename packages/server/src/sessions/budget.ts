/** Changes of a session's budget. */
import type { SessionBudget } from '@steward/protocol/budgets.ts'
import { invalid } from '../ground/core/errors.ts'
import { primaryThreadId } from '../ground/core/text/ids.ts'
import { centsToUnits } from '../ground/core/text/money.ts'
import type { Queries } from '../ground/database/database.ts'
import type { Head } from './log/head.ts'
import { stateOf, showHeadUsage } from './log/head.ts'
import { outcomeStage } from './log/outcome-stage.ts'
import { waitsBehind } from './log/inbox.ts'
import { pausedThreads } from './log/threads/due.ts'
import type { SessionRow } from './rows/sessions.ts'

export const budgetUnits = (budget: SessionBudget | null | undefined): number | null =>
  budget ? centsToUnits(budget.max_list_cost.amount) : null

/**
 * The change of the head for a new budget; undefined when nothing would change. A session without a budget gets one
 * only with `mayAdd`. [sessions/budget/raise] [sessions/budget/remove]
 */
export function budgetChange(
  head: Head,
  budget: SessionBudget | null | undefined,
  mayAdd = false,
): { budget: number | null; budget_told: 0 } | undefined {
  const next = budgetUnits(budget)
  if (budget === undefined || next === head.budget) return undefined
  if (head.budget === null && !mayAdd)
    throw invalid(
      'budget: a session gets its budget when it is created, and none after it was removed',
      'budget_create_only',
    )
  if (next !== null && next <= head.list_cost) {
    const spent = showHeadUsage(head, 0).list_cost?.amount ?? '0'
    throw invalid(
      `budget.max_list_cost.amount: must be above what the session has cost, which is ${spent} cents`,
      'budget_not_raised',
    )
  }
  return { budget: next, budget_told: 0 }
}

/**
 * The threads that this budget lets continue: their turn stopped at the old one, or messages wait for them.
 * [sessions/budget/resumes]
 */
export async function threadsResumedBy(
  tx: Queries,
  row: SessionRow,
  head: Head,
): Promise<string[]> {
  const primary = (await resumesWith(tx, row, head)) ? [primaryThreadId(row.id)] : []
  if (head.threads === 0) return primary
  const paused = await pausedThreads(tx, { tenant: row.tenant_id, session: row.id })
  return [...new Set([...primary, ...paused])]
}

async function resumesWith(
  tx: Queries,
  { tenant_id, id }: SessionRow,
  head: Head,
): Promise<boolean> {
  const state = stateOf(head)
  if (state === 'budget_raised' || state === 'evaluating') return true
  if (state !== 'resting') return false
  return head.outcome === outcomeStage.pending || (await waitsBehind(tx, tenant_id, id, 0))
}
