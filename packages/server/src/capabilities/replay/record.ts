/** A session's log as a record: for each turn, its input and the events that it produced. */
import type { NewEvent } from '@steward/protocol/events.ts'
import type { EventRow } from '../../sessions/log/log.ts'
import { eventOf } from '../../sessions/log/log.ts'

export type RecordedEvent = { seq: number; event: NewEvent }

export type RecordedTurn = {
  /** `seq` of the turn's first event. */
  from: number
  /** Input before the turn went on: messages, and answers to calls. */
  given: NewEvent[]
  made: RecordedEvent[]
}

/** `end`: the reason why the record ends before the log; undefined when it does not. */
export type SessionRecord = { turns: RecordedTurn[]; end: string | undefined }

/** True for events of a turn. People, or the service around the turn, produce all other events. */
const isMade = ({ type }: NewEvent): boolean =>
  type.startsWith('agent.') || type.startsWith('span.model_request_') || type === 'session.error'

const isGiven = ({ type }: NewEvent): boolean =>
  type.startsWith('user.') || type === 'system.message'

const ends: Partial<Record<NewEvent['type'], string>> = {
  'user.interrupt': 'a person interrupted the turn',
  'user.define_outcome': 'an outcome was defined',
  'agent.thread_context_compacted': 'the history was compacted',
  'system.wakeup': 'the session was woken at a time',
}

/** Leaves out failed model requests that were repeated, because they do not depend on the agent. */
export function buildSessionRecord(rows: readonly EventRow[]): SessionRecord {
  const turns: RecordedTurn[] = []
  const begun = (from: number): RecordedTurn => ({ from, given: [], made: [] })
  let turn = begun(1)
  const close = (next: number) => {
    if (turn.made.length > 0) turns.push({ ...turn, made: withoutFailures(turn.made) })
    turn = begun(next)
  }
  for (const row of rows) {
    const event = eventOf(row)
    const end = ends[event.type]
    if (end !== undefined) {
      close(row.seq)
      return { turns, end: `${end} at event ${row.seq}` }
    }
    if (isMade(event)) turn.made.push({ seq: row.seq, event })
    else if (isGiven(event)) {
      if (turn.made.length > 0) close(row.seq)
      if (turn.given.length === 0) turn.from = row.seq
      turn.given.push(event)
    }
  }
  close(0)
  return { turns, end: undefined }
}

function withoutFailures(made: RecordedEvent[]): RecordedEvent[] {
  const failed = new Set(
    made.flatMap(({ event }) =>
      event.type === 'span.model_request_end' && event.is_error
        ? [event.id, event.model_request_start_id]
        : [],
    ),
  )
  return made.filter(({ event }) => !failed.has(event.id) && event.type !== 'session.error')
}
