/** Parts of a log: the events that are items, and those that turns begin and end with. */
import type { EventType } from '@steward/protocol/events.ts'
import { sql } from 'kysely'
import type { SlotFor } from '../../../ground/database/statement.ts'
import { byForm, selection } from '../../../ground/database/statement.ts'
import type { TenantThread } from '../../../sessions/log/place.ts'
import { isAmong, ofSession } from '../../../sessions/log/place.ts'
import { dataSize, short } from '../../../sessions/log/texts.ts'
import { itemTypes } from './item.ts'

/** The events of a thread between two places; without a thread, of the session itself. */
type LogPart = TenantThread & { after: number; before: number }

type Whose = 'session' | 'thread'

/** For statements that are built once. */
const isInPart = (slot: SlotFor<LogPart>, whose: Whose) => {
  const after = slot((part) => part.after)
  const before = slot((part) => part.before)
  const thread = whose === 'thread' ? slot((part) => part.thread ?? '') : null
  return sql<boolean>`seq > ${after} and seq < ${before} and ${isAmong(thread)}`
}

export type ItemsPart = Pick<LogPart, 'after' | 'before'> & { limit: number; order: 'asc' | 'desc' }

/** With the sizes of their texts; those with long texts have none. */
export const itemsStatement = byForm((form: `${Whose} ${ItemsPart['order']}`) =>
  selection((db, slot: SlotFor<LogPart & Pick<ItemsPart, 'limit'>>) =>
    db
      .selectFrom('events')
      .select(['seq', 'id', 'type', 'created_at', 'processed_at'])
      .select([dataSize.as('size'), short('data', dataSize)])
      .where((eb) => eb.and(ofSession(slot)))
      .where(isInPart(slot, form.startsWith('thread') ? 'thread' : 'session'))
      .where('type', 'in', itemTypes)
      .orderBy('seq', form.endsWith('desc') ? 'desc' : 'asc')
      .limit(slot(({ limit }) => limit)),
  ),
)

/** Of a turn that ends: why it stopped is in the text. */
const ends = ['session.status_idle', 'session.thread_status_idle'] satisfies EventType[]

/** The events that a turn begins and ends with. */
const boundTypes = {
  session: [
    'session.status_run_started',
    'user.message',
    'user.define_outcome',
    'session.status_running',
    'session.status_idle',
    'session.status_terminated',
  ],
  thread: [
    'agent.thread_message_received',
    'session.thread_status_running',
    'session.thread_status_idle',
    'session.thread_status_terminated',
  ],
} satisfies Record<Whose, EventType[]>

/** A part of the log with more of these events is read in pieces. */
export const mostBounds = 1_000

/** With the texts of those that say why a turn stopped, and no other. */
export const boundsStatement = byForm((whose: Whose) =>
  selection((db, slot: SlotFor<LogPart>) =>
    db
      .selectFrom('events')
      .select(['seq', 'id', 'type', 'created_at'])
      .select(sql<string>`case when type in (${sql.join(ends)}) then data else '' end`.as('data'))
      .where((eb) => eb.and(ofSession(slot)))
      .where(isInPart(slot, whose))
      .where('type', 'in', boundTypes[whose])
      .orderBy('seq')
      .limit(mostBounds),
  ),
)
