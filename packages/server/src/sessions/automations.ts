/** The automations that agents make for their own sessions, which the runner uses. */
import type { AutomationEffect, SessionAutomations } from '@steward/harness/automations.ts'
import type { SessionRef } from '../ground/core/refs.ts'
import type { Queries } from '../ground/database/database.ts'

/** Automations are deployments, which a higher wing keeps. */
export type AutomationParts = {
  ofSession: (ref: SessionRef) => SessionAutomations
  /** Does what the effect says within the unit. Returns the reason when it is refused; nothing is written then. */
  apply: (
    tx: Queries,
    ref: SessionRef,
    effect: AutomationEffect,
    now: number,
  ) => Promise<string | undefined>
}
