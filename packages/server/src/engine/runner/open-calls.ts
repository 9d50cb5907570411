/** The open calls of a turn, as its harness takes them. */
import type { OpenCall } from '@steward/harness/turn.ts'
import { isCall } from '@steward/protocol/call-events.ts'
import type { Database } from '../../ground/database/database.ts'
import type { PendingCall } from '../../sessions/log/calls.ts'
import { eventOf, readAt } from '../../sessions/log/log.ts'

const decisions: Record<PendingCall['state'], OpenCall['decision']> = {
  asked: 'wait',
  waiting: 'wait',
  allowed: 'run',
  denied: 'deny',
  started: 'lost',
  done: 'wait',
}

export async function readOpenCalls(
  database: Database,
  tenant: string,
  session: string,
  calls: PendingCall[],
): Promise<OpenCall[]> {
  if (calls.length === 0) return []
  const rows = await readAt(
    database.read,
    tenant,
    session,
    calls.map((call) => call.seq),
  )
  return rows.flatMap((row) => {
    const call = calls.find((each) => each.event_id === row.id)
    if (!call) return []
    const made = eventOf(row)
    if (!isCall(made)) throw new Error(`call ${row.id} is an event of type ${row.type}`)
    const { name, input } = made
    const executed_by = 'executed_by' in made ? made.executed_by : undefined
    const deny_message = call.deny_message ?? undefined
    return [
      {
        event_id: row.id,
        name,
        input,
        decision: decisions[call.state],
        ...(deny_message ? { deny_message } : {}),
        ...(executed_by ? { executed_by } : {}),
      },
    ]
  })
}
