/** Stores the events of a turn, in the log of its thread. */
import type { KeepReply } from '@steward/harness/turn.ts'
import type { CallEffect } from '@steward/harness/effects.ts'
import { appendInUnit } from '../../../sessions/log/append.ts'
import type { LogEntry } from '../../../sessions/log/log.ts'
import { appendInThread, isStatus } from '../../../sessions/log/threads/append.ts'
import { EventNotStored } from '../failed-turn.ts'
import type { SessionLease } from '../steps.ts'
import type { ThreadDeps, ThreadStart } from '../turn-deps.ts'
import type { KeptWithEffect, TeamRoster } from './effects.ts'
import { keepWithEffect } from './effects.ts'

/**
 * `kept`: empty when the effect was refused. `last`: the `seq` of the last event, if nothing else was stored with the
 * events.
 */
type StoredEvents = {
  starts: readonly ThreadStart[]
  kept: readonly LogEntry[]
  reply?: KeepReply
  last?: number
}

/** Stores events of a turn. Undefined when the lease was lost. Throws `EventNotStored` when the database fails. */
export const storeTurnEvents = (
  ...step: Parameters<typeof store>
): Promise<StoredEvents | undefined> =>
  store(...step).catch((cause: unknown) => Promise.reject(new EventNotStored(cause)))

async function store(
  deps: ThreadDeps,
  lease: SessionLease,
  { kept, effect }: { kept: readonly LogEntry[]; effect?: CallEffect | undefined },
  roster: TeamRoster | undefined,
): Promise<StoredEvents | undefined> {
  const { tenant, session, thread, fence } = lease
  if (effect) return storeWithEffect(deps, lease, { kept, effect }, roster)
  const { database, clock } = deps
  const now = clock.now()
  const written = await (thread === undefined && !kept.some(isStatus)
    ? appendInUnit(database, { tenant, session }, kept, { now, fence })
    : database.write((tx) => appendInThread(tx, lease, kept, now)))
  return written && { kept, starts: [], last: written.last }
}

/**
 * Parks the thread of the effect if it does not run, so that its first step is in the same commit and its loop begins
 * with that step.
 */
async function storeWithEffect(
  { database, clock, crew, automations }: ThreadDeps,
  lease: SessionLease,
  step: { kept: readonly LogEntry[]; effect: CallEffect },
  roster: TeamRoster | undefined,
): Promise<StoredEvents | undefined> {
  const { kept, effect } = step
  const thread = 'thread' in effect ? effect.thread : undefined
  const begin = thread === undefined ? undefined : crew.park(thread)
  const begins = begin && thread
  let done: KeptWithEffect | undefined
  try {
    done = await database.write((tx) =>
      keepWithEffect(tx, lease, { ...step, begins }, { roster, automations }, clock.now()),
    )
  } finally {
    if (!done?.step) begin?.()
  }
  if (!done) return undefined
  const { reply, starts, step: first } = done
  return {
    reply,
    starts: begin && first ? [() => begin(first)] : starts,
    kept: reply && 'refused' in reply ? [] : kept,
  }
}
