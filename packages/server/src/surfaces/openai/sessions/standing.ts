/** Where the log of a session stands for a stream that begins now. */
import { readHead } from '../../../sessions/log/head.ts'
import { openCalls } from '../../../sessions/log/calls.ts'
import { readAt } from '../../../sessions/log/log.ts'
import { isShown } from '../../../sessions/log/place.ts'
import { outputTypes } from '../turns/item.ts'
import type { Standing } from './stream.ts'
import type { SessionLog } from '../turns/turns.ts'
import { standingAt } from '../turns/turns.ts'

export async function readStanding(
  log: SessionLog,
): Promise<{ after: number; standing: Standing }> {
  const { read, tenant, session } = log
  const { next_seq: after } = await readHead(read, tenant, session)
  const { open, usage } = await standingAt(log, after)
  if (!open) return { after, standing: { open, usage, outputs: 0, calls: [] } }
  const outputs = await outputsBetween(log, open.first, after)
  const waiting = (await openCalls(read, tenant, session)).filter(
    ({ seq }) => seq >= open.first && seq <= after,
  )
  const seqs = waiting.map(({ seq }) => seq)
  const rows = seqs.length === 0 ? [] : await readAt(read, tenant, session, seqs)
  const calls = []
  for (const row of rows)
    calls.push({ row, index: await outputsBetween(log, open.first, row.seq - 1) })
  return { after, standing: { open, usage, outputs, calls } }
}

async function outputsBetween(
  { read, tenant, session }: SessionLog,
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
    .where(isShown)
    .executeTakeFirstOrThrow()
  return Number(count)
}
