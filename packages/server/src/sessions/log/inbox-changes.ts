/** Changes of single messages in the inbox. The caller holds the head and appends what happened. */
import { sql } from 'kysely'
import type { Queries, Reads } from '../../ground/database/database.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { Admission } from './inbox.ts'
import { wholeText } from './inbox.ts'
import { disownTexts } from './long-texts.ts'

export type WaitingRow = Pick<
  Tables['inbox'],
  'id' | 'type' | 'position' | 'event' | 'created_at' | 'thread_id'
>

const columns = ['id', 'type', 'position', 'event', 'created_at', 'thread_id'] as const

const messages = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('inbox')
    .select(columns)
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('type', '=', 'user.message')

/** The messages of people that wait, in the order in which they will be taken. */
export const listWaiting = (db: Reads, tenant: string, session: string): Promise<WaitingRow[]> =>
  messages(db, tenant, session).orderBy('position').execute()

export const findWaiting = (
  db: Reads,
  tenant: string,
  session: string,
  id: string,
): Promise<WaitingRow | undefined> =>
  messages(db, tenant, session).where('id', '=', id).executeTakeFirst()

/** True when the log has the message. Reads ids alone, of any number of events. */
export async function wasTaken(
  db: Reads,
  tenant: string,
  session: string,
  id: string,
): Promise<boolean> {
  const rows = db
    .selectFrom('events')
    .select('seq')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('id', '=', id)
    .where('type', '=', 'user.message')
    .limit(1)
  return (await rows.execute()).length > 0
}

/** Removes a message, and the instructions that were posted behind it. */
export async function takeOne(
  tx: Queries,
  tenant: string,
  session: string,
  { id, position, event, thread_id }: WaitingRow,
): Promise<void> {
  const rows = await tx
    .selectFrom('inbox')
    .select(['id', 'type', 'position', 'event'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('position', '>', position)
    .where(sql<boolean>`coalesce(thread_id, '') = ${thread_id ?? ''}`)
    .orderBy('position')
    .execute()
  const end = rows.findIndex(({ type }) => type !== 'system.message')
  const gone = [{ id, position, event }, ...rows.slice(0, end < 0 ? rows.length : end)]
  await tx
    .deleteFrom('inbox')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where(
      'position',
      'in',
      gone.map((each) => each.position),
    )
    .execute()
  const long = gone.flatMap((each) => (each.event === '' ? each.id : []))
  await disownTexts(tx, { tenant, session }, long)
}

/** Replaces the text of a message, and counts the difference of their bytes. */
export async function changeWaiting(
  tx: Queries,
  tenant: string,
  session: string,
  { position, event }: WaitingRow,
  changed: Admission,
): Promise<void> {
  const text = wholeText(changed)
  const more = Buffer.byteLength(text) - Buffer.byteLength(event)
  const rows = tx
    .updateTable('inbox')
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
  await rows.set({ event: text }).where('position', '=', position).execute()
  await rows
    .set((eb) => ({ bytes_before: eb('bytes_before', '+', more) }))
    .where('position', '>', position)
    .execute()
  await tx
    .updateTable('session_heads')
    .set((eb) => ({ inbox_bytes: eb('inbox_bytes', '+', more) }))
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .execute()
}
