/** Positions of items in the output of their turn. */
import { isAmong } from '../../../sessions/log/thread-columns.ts'
import { outputTypes } from './item.ts'
import type { SessionLog } from './turns.ts'

/** The number of output items from `first` to `last`. */
export async function outputsBetween(
  { read, tenant, session, thread }: SessionLog,
  first: number,
  last: number,
): Promise<number> {
  const { count } = await read
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('seq', '>=', first)
    .where('seq', '<=', last)
    .where('type', 'in', outputTypes)
    .where(isAmong(thread))
    .executeTakeFirstOrThrow()
  return Number(count)
}
