/** Tells by webhooks how much of a session's budget is spent. */
import type { StopReason } from '@steward/protocol/events.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { Head, HeadChange } from '../../sessions/log/head.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** Values of `budget_told`, in the order of what they say. */
const budgetTold = { half: 2, nearly: 3, reached: 1 } as const
const shares = [
  { told: budgetTold.half, of: 0.5, kind: 'session.budget_half_spent' },
  { told: budgetTold.nearly, of: 0.8, kind: 'session.budget_nearly_spent' },
  { told: budgetTold.reached, of: 1, kind: 'session.budget_reached' },
] as const

/** Sends the webhook events for a budget that is spent by half, by 80 % and in full, each once for a value of it. */
export async function announceBudget(
  tx: Queries,
  { tenant, session }: SessionRef,
  head: Head,
  { type }: StopReason,
  now: number,
): Promise<Pick<HeadChange, 'budget_told'>> {
  const { budget, list_cost: cost, budget_told: before } = head
  if (budget === null || type === 'requires_action') return {}
  const known = shares.findIndex(({ told }) => told === before)
  const news = shares.slice(known + 1).filter(({ of }) => cost >= budget * of)
  const last = news.at(-1)
  if (last === undefined) return {}
  await outbox(tx).put(
    tenant,
    news.map(({ kind }) => kind),
    { id: session },
    now,
  )
  return { budget_told: last.told }
}
