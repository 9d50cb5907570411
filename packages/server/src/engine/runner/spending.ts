/** The prices of what a turn uses, and the check of its budget. */
import type { KeptEvent } from '@steward/harness/kept-event.ts'
import type { SessionFailure } from '@steward/protocol/events.ts'
import type { Reads } from '../../ground/database/database.ts'
import { isAtBudget, readHead } from '../../sessions/log/head.ts'
import type { LogEntry, PricedModel } from '../../sessions/log/log.ts'
import type { SessionRef } from '../../ground/core/refs.ts'

/** Adds the model and its price at the beginning of the turn to the events that report usage. */
export const withPrices = (kept: readonly KeptEvent[], model: PricedModel): LogEntry[] =>
  kept.map((each) => ('model_usage' in each.event ? { ...each, model } : each))

/** Reads the budget too: it may change while a turn runs. */
export const hasBudgetLeft = async (db: Reads, { tenant, session }: SessionRef): Promise<boolean> =>
  !isAtBudget(await readHead(db, tenant, session))

export const noPrice = (model: string): SessionFailure => ({
  type: 'model_request_failed_error',
  message: `model ${model} has no price any more, so the budget of this session cannot be held: set native_config.cost of its model card, or remove the budget`,
})
