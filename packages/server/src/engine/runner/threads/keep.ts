/** Stores the events of a turn, in the log of its thread. */
import type { KeepReply } from '@steward/harness/turn.ts'
import type { CallEffect } from '@steward/harness/effects.ts'
import { appendAlone } from '../../../sessions/log/append.ts'
import type { Entry } from '../../../sessions/log/log.ts'
import { notifyWakeups } from '../../../sessions/log/topics.ts'
import { appendInThread, isStatus } from '../../../sessions/log/threads/append.ts'
import { NotKept } from '../failed-turn.ts'
import type { SessionLease } from '../steps.ts'
import type { DrainDeps } from '../turn-deps.ts'
import type { KeptWithEffect, TeamRoster } from './effects.ts'
import { keepWithEffect } from './effects.ts'

/** `kept`: none where the effect was refused. `last`: the number of the last event, where nothing else was stored with the events. */
type Stored = Pick<KeptWithEffect, 'starts'> & {
  kept: readonly Entry[]
  reply?: KeepReply
  last?: number
}

/** Undefined: the lease was lost. */
export const keep = (...step: Parameters<typeof store>): Promise<Stored | undefined> =>
  store(...step).catch((cause: unknown) => Promise.reject(new NotKept(cause)))

async function store(
  { database, clock, bus }: Pick<DrainDeps, 'database' | 'clock' | 'bus'>,
  place: SessionLease,
  { kept, effect }: { kept: readonly Entry[]; effect?: CallEffect | undefined },
  roster: TeamRoster | undefined,
): Promise<Stored | undefined> {
  const { tenant, session, thread, fence } = place
  const now = clock.now()
  if (effect) {
    const done = await database.write((tx) =>
      keepWithEffect(tx, place, { kept, effect }, roster, now),
    )
    if (done && effect.kind === 'wake') notifyWakeups(bus)
    const isRefused = done?.reply !== undefined && 'refused' in done.reply
    return done && { ...done, kept: isRefused ? [] : kept }
  }
  const written = await (thread === undefined && !kept.some(isStatus)
    ? appendAlone(database, { tenant, sessionId: session }, kept, { now, fence })
    : database.write((tx) => appendInThread(tx, place, kept, now)))
  return written && { kept, starts: [], last: written.last }
}
