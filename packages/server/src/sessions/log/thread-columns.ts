import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SessionRef } from '../../ground/core/refs.ts'
import type { SlotFor } from '../../ground/database/statement.ts'

/** The condition for rows of one thread. */
export const isOfThread = (thread: string | RawBuilder<string> | undefined) => () =>
  thread === undefined ? sql<boolean>`thread_id is null` : sql<boolean>`thread_id = ${thread}`

/** The condition for events that the stream of their session shows. */
export const isShown = sql<boolean>`(thread_id is null or shared is not null)`

/**
 * The condition for events that a reader sees: of a child thread, of the primary thread (null), or of the session's
 * stream (undefined).
 */
export const isAmong = (thread: string | RawBuilder<string> | null | undefined) =>
  thread === undefined ? isShown : isOfThread(thread ?? undefined)()

/** The key columns of a thread's row, for statements that are compiled once. */
export const threadColumns = (slot: SlotFor<SessionRef & { id: string }>) => ({
  ...sessionColumns(slot),
  id: slot(({ id }) => id),
})

/** The columns that all rows of a session share, for statements that are compiled once. */
export const sessionColumns = (slot: SlotFor<SessionRef>) => ({
  tenant_id: slot(({ tenant }) => tenant),
  session_id: slot(({ session: sessionId }) => sessionId),
})
