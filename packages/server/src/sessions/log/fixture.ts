/** For tests: sessions that consist of a head and a log, without a row of their own. */
import type { NewEvent } from '@steward/protocol/events.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { appendEntries } from './append.ts'
import { noSpending } from './head.ts'

type HeadRow = Tables['session_heads']

export const tenant = 'wrkspc_test'

/** Inserts a session's head, and returns the session's id. */
export async function insertHead(database: Database, head: Partial<HeadRow> = {}): Promise<string> {
  const session_id = newId('session')
  await database.write((tx) =>
    tx
      .insertInto('session_heads')
      .values({
        tenant_id: tenant,
        session_id,
        next_seq: 0,
        next_position: 0,
        inbox_bytes: 0,
        status: 'idle',
        stop_reason: null,
        due: 0,
        owner: null,
        generation: 0,
        expires_at: 0,
        recoveries: 0,
        running_since_ms: null,
        active_ms: 0,
        input_tokens: 0,
        output_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        stdio_ms: null,
        awaits_stdio: 0,
        url_servers: 0,
        outcome: 0,
        threads: 0,
        changed_ms: 0,
        ...noSpending,
        ...head,
      })
      .execute(),
  )
  return session_id
}

/** A message of the agent, to fill logs. */
export const agentMessage = (text: string): NewEvent => ({
  id: newId('event'),
  type: 'agent.message',
  content: [{ type: 'text', text }],
})

/** Appends outside of any lease, in a transaction of its own. */
export const keepEvents = (database: Database, session: string, events: NewEvent[], now = 0) =>
  database.write((tx: Queries) =>
    appendEntries(
      tx,
      tenant,
      session,
      events.map((event) => ({ event })),
      { now },
    ),
  )
