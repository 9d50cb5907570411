/** Where the log of a session stands for a stream that begins now. */
import { readHead } from '../../../sessions/log/head.ts'
import { openCallsOf } from '../../../sessions/log/calls.ts'
import { readAt } from '../../../sessions/log/log.ts'
import { outputsBetween } from '../turns/outputs.ts'
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
  const waiting = (await openCallsOf(read, { tenant, sessionId: session })).filter(
    ({ seq }) => seq >= open.first && seq <= after,
  )
  const seqs = waiting.map(({ seq }) => seq)
  const rows = seqs.length === 0 ? [] : await readAt(read, tenant, session, seqs)
  const calls = []
  for (const row of rows)
    calls.push({ row, index: await outputsBetween(log, open.first, row.seq - 1) })
  return { after, standing: { open, usage, outputs, calls } }
}
