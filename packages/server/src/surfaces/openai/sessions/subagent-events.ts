/** What the stream of a session tells of its subagents: that they begin and end, their turns, and calls that the caller answers. */
import { parseObject } from '@steward/base/json-object.ts'
import { threadOf } from '../../../ground/core/ids.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import { eventOf, readAt } from '../../../sessions/log/log.ts'
import { findSubagent, showSubagent } from '../subagents/subagent.ts'
import { answeredBy } from '../turns/item.ts'
import { outputsBetween } from '../turns/outputs.ts'
import { eventPlaces } from '../turns/places.ts'
import type { LoggedTurn } from '../turns/turn.ts'
import { usageOfTurn } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'
import { turnBehind } from '../turns/turns.ts'
import { addedText, doneText } from './output.ts'
import { subagentEvent, turnEventsOf } from './wire-events.ts'

/** The child thread that a row of the session's stream belongs to. */
export function childOf({ session }: SessionLog, { data }: EventRow): string | undefined {
  if (!data.includes('"session_thread_id"')) return undefined
  const thread = parseObject(data)['session_thread_id']
  return typeof thread === 'string' && thread !== threadOf(session) ? thread : undefined
}

export function subagentEvents(session: SessionLog) {
  const places = eventPlaces()

  async function told(log: SessionLog, row: EventRow): Promise<string> {
    switch (row.type) {
      case 'session.thread_status_running':
        return began(log, row)
      case 'session.thread_status_idle':
      case 'session.thread_status_terminated':
        return ended(log, row)
      case 'agent.custom_tool_use':
        return call(log, row)
      case 'user.custom_tool_result':
        return answer(log, row)
      default:
        return ''
    }
  }

  const toldOf = (owner: SessionLog, turn: LoggedTurn) =>
    turnEventsOf({ owner, turnId: () => turn.id })

  async function began(log: SessionLog, row: EventRow): Promise<string> {
    const turn = await turnBehind(log, row.seq)
    if (!turn) return ''
    const before = await turnBehind(log, row.seq - 1)
    const isNew = before?.id !== turn.id || before.startedAt === null
    const of = toldOf(log, turn)
    return (isNew ? of.turn('created', row, turn) : '') + of.turn('in_progress', row, turn)
  }

  async function ended(log: SessionLog, row: EventRow): Promise<string> {
    const turn = await turnBehind(log, row.seq)
    if (turn?.last !== row.seq) return ''
    return toldOf(log, turn).turn(turn.status, row, turn, { usage: usageOfTurn(turn) })
  }

  async function call(log: SessionLog, row: EventRow, result?: EventRow): Promise<string> {
    const turn = await turnBehind(log, row.seq)
    if (!turn) return ''
    const index = await outputsBetween(log, turn.first, row.seq - 1)
    const of = toldOf(log, turn)
    return result ? doneText(of, row, index, result) : addedText(of, row, index)
  }

  async function answer(log: SessionLog, row: EventRow): Promise<string> {
    const id = answeredBy(eventOf(row))
    const seq = id === undefined ? undefined : await places.find(log, id)
    if (seq === undefined) return ''
    const [of] = await readAt(log.read, log.tenant, log.session, [seq])
    return of ? call(log, of, row) : ''
  }

  async function subagent(word: 'created' | 'closed', thread: string, row: EventRow) {
    const found = await findSubagent(session, thread)
    return subagentEvent(word, row, await showSubagent(session, found, null))
  }

  /** `thread`: the child thread that the row belongs to. */
  return async (thread: string, row: EventRow): Promise<string> => {
    if (row.type === 'session.thread_created') return subagent('created', thread, row)
    const text = await told({ ...session, thread }, row)
    if (row.type !== 'session.thread_status_terminated') return text
    return text + (await subagent('closed', thread, row))
  }
}
