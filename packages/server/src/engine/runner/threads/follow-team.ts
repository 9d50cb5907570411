/** Keeps the loops of a session with several threads in step with its rows. */
import { readHead } from '../../../sessions/log/head.ts'
import { dueThreads } from '../../../sessions/log/threads/due.ts'
import type { SessionLease } from '../steps.ts'
import type { DrainDeps, TurnSignals } from '../turn-deps.ts'
import type { Crew } from './crew.ts'

/**
 * On a notification, and at each look for work: begins the threads that have something to do. Those that run look again when they rest. A
 * thread that waits long for others writes nothing by which it would find that the lease is lost, so the lease is read here.
 */
export function followTeam(
  { database }: Pick<DrainDeps, 'database'>,
  place: SessionLease,
  signals: Pick<TurnSignals, 'wake'>,
  crew: Crew,
): void {
  signals.wake(async () => {
    const { generation } = await readHead(database.read, place.tenant, place.session)
    if (generation !== place.fence.generation) return crew.lose()
    for (const thread of await dueThreads(database.read, place)) crew.start(thread)
  })
}
