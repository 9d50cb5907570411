/** For tests: events of clients and agents, and the state that they lead to. */
import type { ClientEvent, EventOf } from '@steward/protocol/events.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import { withHeardNotices } from '../../ground/database/fixture.ts'
import { openCalls } from '../log/calls.ts'
import { tenant } from '../log/fixture.ts'
import { readHead } from '../log/head.ts'
import { readWaiting } from '../log/inbox.ts'
import { readEvents } from '../log/log.ts'
import { postEvents } from './post.ts'

export const text = (words: string) => [{ type: 'text' as const, text: words }]
export const message = (words = 'hello'): ClientEvent => ({
  type: 'user.message',
  content: text(words),
})
export const system = (words = 'be brief'): ClientEvent => ({
  type: 'system.message',
  content: text(words),
})
export const interrupt: ClientEvent = { type: 'user.interrupt' }
type CustomToolResult = Extract<ClientEvent, { type: 'user.custom_tool_result' }>

export const answer = (custom_tool_use_id: string): CustomToolResult => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id,
  content: text('42'),
})
export const confirm = (tool_use_id: string, result: 'allow' | 'deny' = 'allow'): ClientEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id,
  result,
})

export const custom = (): EventOf<'agent.custom_tool_use'> => ({
  id: newId('event'),
  type: 'agent.custom_tool_use',
  name: 'mine',
  input: {},
})
export const askedCall = (): EventOf<'agent.tool_use'> => ({
  id: newId('event'),
  type: 'agent.tool_use',
  name: 'bash',
  input: {},
  evaluated_permission: 'ask',
})
export const ranCall = (): EventOf<'agent.tool_use'> => ({
  ...askedCall(),
  evaluated_permission: 'allow',
})
export const needsAction = (...event_ids: string[]): EventOf<'session.status_idle'> => ({
  id: newId('event'),
  type: 'session.status_idle',
  stop_reason: { type: 'requires_action', event_ids },
  stop_details: null,
})

/** Posts, and says what was notified after the commit. */
export async function postEventsNow(
  database: Database,
  session: string,
  events: ClientEvent[],
  now = 0,
) {
  const { database: listened, heard } = withHeardNotices(database)
  const echoes = await listened.write((tx) => postEvents(tx, tenant, session, events, now))
  const ofSession = (kind: string) =>
    heard.find(
      ({ topic, message: said }) => topic === `session:${session}` && said['kind'] === kind,
    )
  return {
    echoes,
    queued: ofSession('queued')?.message['events'] ?? [],
    appended: ofSession('new_events') !== undefined,
    interrupt: ofSession('interrupt') !== undefined,
    due: heard.some(({ topic }) => topic === 'work'),
  }
}

export const readState = async ({ read }: Database, session: string) => ({
  log: await readEvents(read, tenant, session, { limit: 1000, extensions: true }),
  inbox: await readWaiting(read, tenant, session),
  calls: await openCalls(read, tenant, session),
  head: await readHead(read, tenant, session),
})

export const isRefusedWith = (pattern: RegExp) => (error: unknown) =>
  error instanceof PlatformError && error.kind === 'invalid_request' && pattern.test(error.message)
