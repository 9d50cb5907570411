/** Starts the loops of due threads, in a session with several threads. */
import { readHead } from '../../../sessions/log/head.ts'
import { dueThreads } from '../../../sessions/log/threads/due.ts'
import type { SessionLease } from '../steps.ts'
import type { DrainDeps, TurnSignals } from '../turn-deps.ts'
import type { Crew } from './crew.ts'

/**
 * On each notification, and at each look for work: starts the due threads. A running thread looks for work itself
 * before it goes idle. Reads the lease too: a thread that waits long for others writes nothing and would not notice
 * that the lease is lost.
 */
export function followTeam(
  { database }: DrainDeps,
  lease: SessionLease,
  signals: TurnSignals,
  crew: Crew,
): void {
  signals.wake(async () => {
    const { generation } = await readHead(database.read, lease.tenant, lease.session)
    if (generation !== lease.fence.generation) return crew.lose()
    for (const thread of await dueThreads(database.read, lease)) crew.start(thread)
  })
}
