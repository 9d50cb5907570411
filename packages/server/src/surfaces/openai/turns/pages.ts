/** Pages of turns. */
import { notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { readHead, stateOf } from '../../../sessions/log/head.ts'
import { isOfThread } from '../../../sessions/log/thread-columns.ts'
import { unknownAfter } from '../page.ts'
import type { EventPositions } from './event-positions.ts'
import type { LoggedTurn } from './turn.ts'
import type { SessionLog } from './turns.ts'
import { turnAt, turnsAround, turnsBefore, turnsBehind } from './turns.ts'

/** True when a message that steers joins a turn, which runs or waits for somebody. */
async function hasOpenTurn(read: Reads, tenant: string, session: string): Promise<boolean> {
  const state = stateOf(await readHead(read, tenant, session))
  return state !== 'resting' && state !== 'budget_reached' && state !== 'done'
}

/** The turn of the oldest waiting message. The turn begins when the running turn ends. */
async function queuedTurn({
  read,
  tenant,
  session,
  thread,
}: SessionLog): Promise<LoggedTurn | undefined> {
  const type = thread === null ? 'user.message' : 'agent.thread_message_received'

  const oldest = await read
    .selectFrom('inbox')
    .select(['id', 'created_at', 'steers'])
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)
    .where('type', '=', type)
    .where(isOfThread(thread ?? undefined))
    .orderBy('position')
    .limit(1)
    .executeTakeFirst()
  if (oldest?.steers === 'yes' && (await hasOpenTurn(read, tenant, session))) return undefined
  return (
    oldest && {
      id: oldest.id,
      first: Number.MAX_SAFE_INTEGER,
      last: null,
      status: 'queued',
      error: null,
      createdAt: oldest.created_at,
      startedAt: null,
      completedAt: null,
      before: undefined,
      after: undefined,
    }
  )
}

export async function findTurn(
  log: SessionLog,
  positions: EventPositions,
  id: string,
): Promise<LoggedTurn> {
  const turn = await lookUpTurn(log, positions, id)
  if (!turn) throw notFound('turn', id)
  return turn
}

async function lookUpTurn(
  log: SessionLog,
  positions: EventPositions,
  id: string,
): Promise<LoggedTurn | undefined> {
  const seq = await positions.find(log, id)
  const turn = seq === undefined ? undefined : turnAt(await turnsAround(log, seq, seq), seq)
  if (turn?.id === id) return turn
  const queued = await queuedTurn(log)
  return queued?.id === id ? queued : undefined
}

type TurnRange = { limit: number; order: 'asc' | 'desc'; after: string | undefined }

export async function readTurns(
  log: SessionLog,
  positions: EventPositions,
  { limit, order, after }: TurnRange,
): Promise<{ turns: LoggedTurn[]; more: boolean }> {
  const from = after === undefined ? undefined : await lookUpTurn(log, positions, after)
  if (after !== undefined && !from) throw unknownAfter(after)
  const turns =
    order === 'desc' ? await newestFirst(log, from, limit) : await oldestFirst(log, from, limit)
  return { turns: turns.slice(0, limit), more: turns.length > limit }
}

/** Reads one more turn than a page holds, to see whether another page follows. */
async function newestFirst(
  log: SessionLog,
  from: LoggedTurn | undefined,
  limit: number,
): Promise<LoggedTurn[]> {
  const queued = from ? undefined : await queuedTurn(log)
  const before = from?.status === 'queued' ? undefined : from?.first
  const { turns } = await turnsBefore(log, before, limit + 1)
  return [...(queued ? [queued] : []), ...turns.toReversed()]
}

async function oldestFirst(
  log: SessionLog,
  from: LoggedTurn | undefined,
  limit: number,
): Promise<LoggedTurn[]> {
  if (from?.status === 'queued') return []
  const turns = from?.last === null ? [] : await turnsBehind(log, from, limit + 1)
  const queued = turns.length > limit ? undefined : await queuedTurn(log)
  return [...turns, ...(queued ? [queued] : [])]
}
