/** Writes a worker's failure to mount an input into the session's log. [work/not-begun] */
import type { NewEvent, SessionError } from '@steward/protocol/events.ts'
import type { RepositoryFailed } from '@steward/protocol/inputs.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { isSessionOver, readHead } from '../../log/head.ts'
import { idleAgain } from '../../log/idle.ts'
import { appendEntries } from '../../log/append.ts'
import { eventOf, readEvents } from '../../log/log.ts'
import { notFound } from '../../../ground/core/errors.ts'
import { cloneError } from '../../resources/clone-error.ts'
import { resourceStore } from '../../rows/resources.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

/** The same failure is not appended again within this time, because the service dispatches the work repeatedly. */
const quietMs = 10 * 60_000

type FailedInput = { tenant: string; session: string; resource: string }

/** Returns true when an event was appended. The caller has locked the session's head. */
export async function reportFailure(
  tx: Queries,
  { tenant, session, resource }: FailedInput,
  { type, message: why }: RepositoryFailed,
  now: number,
): Promise<boolean> {
  const row = await resourceStore(tx).row(tenant, session, resource)
  if (row.type !== 'github_repository') throw notFound('repository', resource)
  return reportOnce(tx, { tenant, session }, cloneError(row, { type, message: why }), now)
}

/** Like `reportFailure`, for a worker that could not begin the session at all. */
export const reportNotBegun = (
  tx: Queries,
  ref: SessionRef,
  why: string,
  now: number,
): Promise<boolean> => {
  const message = `a worker has claimed this session and could not begin: ${why}; its work is tried again`
  const error = { type: 'unknown_error', message, retry_status: { type: 'retrying' } } as const
  return reportOnce(tx, ref, error, now)
}

async function reportOnce(
  tx: Queries,
  { tenant, session }: SessionRef,
  error: SessionError,
  now: number,
): Promise<boolean> {
  const head = await readHead(tx, tenant, session)
  if (isSessionOver(head)) return false
  if (await isReported(tx, { tenant, session }, error, now)) return false
  const event: NewEvent = { id: newId('event'), type: 'session.error', error }
  await appendEntries(tx, tenant, session, [{ event }, ...idleAgain(head, now)], { now })
  return true
}

async function isReported(
  tx: Queries,
  { tenant, session }: SessionRef,
  error: SessionError,
  now: number,
): Promise<boolean> {
  const [last] = await readEvents(tx, tenant, session, {
    types: ['session.error'],
    order: 'desc',
    limit: 1,
    processed: [{ op: '>', at: iso(now - quietMs) }],
  })
  if (!last) return false
  const told = eventOf(last)
  return (
    told.type === 'session.error' &&
    told.error.type === error.type &&
    told.error.message === error.message
  )
}
