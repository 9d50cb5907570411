/** Events of subagents on the stream of a session: the subagents begin and end, and their turns have outputs. */
import { parseObject } from '@steward/base/json-object.ts'
import { primaryThreadId } from '../../../ground/core/text/ids.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { findSubagent, showSubagent } from '../subagents/subagent.ts'
import type { SessionLog } from '../turns/turns.ts'
import { readStanding } from './standing.ts'
import type { Teller } from './teller.ts'
import { createTeller } from './teller.ts'
import { subagentEvent } from './wire-events.ts'

/** The child thread that an event names. */
export function childThreadId({ session }: SessionLog, { data }: EventRow) {
  if (!data.includes('"session_thread_id"')) return undefined
  const thread = parseObject(data)['session_thread_id']
  return typeof thread === 'string' && thread !== primaryThreadId(session) ? thread : undefined
}

export function subagentEvents(session: SessionLog) {
  const tellers = new Map<string, Teller>()

  async function tellerFor(thread: string, { seq }: Pick<EventRow, 'seq'>): Promise<Teller> {
    const known = tellers.get(thread)
    if (known) return known
    const log = { ...session, thread }
    const teller = createTeller({ log, standing: await readStanding(log, seq - 1) })
    tellers.set(thread, teller)
    return teller
  }

  async function subagent(word: 'created' | 'closed', thread: string, row: EventRow) {
    const found = await findSubagent(session, thread)
    return subagentEvent(word, row, await showSubagent(session, found, null))
  }

  /** `row`: an event of a child thread, or the event that created the thread. */
  async function kept(row: EventRow): Promise<string> {
    if (row.type === 'session.thread_created') {
      const created = childThreadId(session, row)
      return created === undefined ? '' : subagent('created', created, row)
    }
    const { thread_id: thread } = row
    if (!thread) return ''
    const { text } = await (await tellerFor(thread, row)).kept(row)
    if (row.type !== 'session.thread_status_terminated') return text
    tellers.delete(thread)
    return text + (await subagent('closed', thread, row))
  }

  return {
    kept,
    /** Tells a call of a child thread again that waits since before the stream began. */
    again: async (thread: string, row: EventRow, after: number): Promise<string> =>
      (await tellerFor(thread, { seq: after + 1 })).again(row),
  }
}
