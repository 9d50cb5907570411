/** Effects of a call on its own session alone, in the commit that stores the result. */
import type { AutomationEffect } from '@steward/harness/automations.ts'
import type { WakeupEffect } from '@steward/harness/wakeups.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { AutomationParts } from '../../sessions/automations.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import { scheduleWakeup } from './wakeup.ts'

/** What such effects act on; undefined where no tool of the session has them. */
export type OwnEffectParts = { automations?: AutomationParts | undefined }

/** Returns what the log gets behind the result, or the reason for a refusal. */
export async function applyOwnEffect(
  tx: Queries,
  ref: ThreadRef,
  effect: WakeupEffect | AutomationEffect,
  { automations, now }: OwnEffectParts & { now: number },
): Promise<{ entries: LogEntry[] } | { refused: string }> {
  if (effect.kind === 'wake') return { entries: await scheduleWakeup(tx, ref, effect) }
  if (!automations) throw new Error('a tool changes automations where nothing keeps them')
  const { tenant, session } = ref
  const refused = await automations.apply(tx, { tenant, session }, effect, now)
  return refused === undefined ? { entries: [] } : { refused }
}
