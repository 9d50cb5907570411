/** Positions of events in their log, by id: a list of this surface continues behind an id. */
import type { EventType } from '@steward/protocol/events.ts'
import { isIdOf } from '../../../ground/core/text/ids.ts'
import { isAmong } from '../../../sessions/log/thread-columns.ts'
import type { SessionLog } from './turns.ts'

const mostRemembered = 10_000

/** Remembers the position of each page's last item, because the next page asks for it. */
export function eventPositions() {
  const known = new Map<string, number>()
  const keyOf = ({ tenant, session, thread }: SessionLog, id: string) =>
    `${tenant}/${session}/${thread ?? ''}/${id}`

  return {
    note(log: SessionLog, id: string, seq: number): void {
      if (known.size >= mostRemembered) known.clear()
      known.set(keyOf(log, id), seq)
    },

    /** Resolves to undefined when the log does not have the id, or has it under another type. */
    async find(
      log: SessionLog,
      id: string,
      types?: readonly EventType[],
    ): Promise<number | undefined> {
      const seq = known.get(keyOf(log, id))
      if (seq !== undefined) return seq
      if (!isIdOf('event', id)) return undefined
      const { read, tenant, session, thread } = log
      const found = read
        .selectFrom('events')
        .select('seq')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .where('id', '=', id)
        .where(isAmong(thread))
      const row = await (types ? found.where('type', 'in', types) : found).executeTakeFirst()
      return row?.seq
    },
  }
}

export type EventPositions = ReturnType<typeof eventPositions>
