import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { SlotFor } from '../../ground/database/statement.ts'

export type TenantSession = { tenant: string; sessionId: string }

/** A child thread; undefined: the primary thread. */
export type ThreadRef = { thread?: string | undefined }
export type TenantThread = TenantSession & ThreadRef

/** Rows of one thread. */
export const isOfThread = (thread: string | RawBuilder<string> | undefined) => () =>
  thread === undefined ? sql<boolean>`thread_id is null` : sql<boolean>`thread_id = ${thread}`

/** Events that the stream of their session shows. */
export const isShown = sql<boolean>`(thread_id is null or shared is not null)`

/** What a reader of the log sees: of a thread, of the primary thread alone (null), or of the stream of the session. */
export const isAmong = (thread: string | RawBuilder<string> | null | undefined) =>
  thread === undefined ? isShown : isOfThread(thread ?? undefined)()

/** The columns that the row of a thread is found by. */
export const threadColumns = (slot: SlotFor<TenantSession & { id: string }>) => ({
  ...sessionColumns(slot),
  id: slot(({ id }) => id),
})

/** The columns that every row of a session is found by, for statements that are built once. */
export const sessionColumns = (slot: SlotFor<TenantSession>) => ({
  tenant_id: slot(({ tenant }) => tenant),
  session_id: slot(({ sessionId }) => sessionId),
})
