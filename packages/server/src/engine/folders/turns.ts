/** The turns of a session, and whether checkpoints tell what each has changed. */
import type { ChangedTurnShown } from '@steward/protocol/folder-changes.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Reads } from '../../ground/database/database.ts'
import { pastStore } from '../../resources/checkpoints/past-checkpoints.ts'
import {
  firstResultAfter,
  lastResultUpTo,
  resultsBetween,
  turnEndsBefore,
} from '../../sessions/log/cut.ts'
import type { ShownSessionRow } from '../../sessions/rows/sessions.ts'
import { notKeptReason } from './points.ts'

type TurnsCall = { db: Reads; tenant: string; session: Pick<ShownSessionRow, 'id' | 'forked_from'> }

/** Turns that ended before the event `before`, the newest first. */
export async function changedTurns(
  { db, tenant, session }: TurnsCall,
  { before, limit }: { before: number; limit: number },
): Promise<{ turns: ChangedTurnShown[]; more: boolean }> {
  const ref = { tenant, session: session.id }
  const ends = await turnEndsBefore(db, { ...ref, at: before }, limit + 1)
  const more = ends.length > limit
  const pairs = ends.slice(0, limit).map((to, index) => ({ from: ends[index + 1] ?? 0, to }))
  const kept = await pastStore(db).seqs(tenant, session.id)
  const forked = session.forked_from && fromJson(session.forked_from)
  // Where a fork began with an empty folder, what it was before does not matter.
  const emptyUntil = forked && !forked.checkpoint ? forked.seq : 0
  const [oldest, newest] = [pairs.at(-1)?.from ?? 0, pairs[0]?.to ?? 0]
  const around = [
    await lastResultUpTo(db, { ...ref, at: oldest }),
    ...(await resultsBetween(db, { ...ref, at: newest }, oldest)),
    await firstResultAfter(db, { ...ref, at: newest }),
  ]
  const results = around.flatMap((seq) => (seq !== undefined && seq > emptyUntil ? [seq] : []))
  const isKept = (at: number): boolean => {
    const next = results.findIndex((seq) => seq > at)
    const last = next === -1 ? results.at(-1) : results[next - 1]
    const end = next === -1 ? undefined : results[next]
    return last === undefined || kept.some((seq) => seq >= last && (end === undefined || seq < end))
  }
  const stateOf = (from: number, to: number): Pick<ChangedTurnShown, 'state' | 'reason'> => {
    if (!results.some((seq) => seq > from && seq <= to)) return { state: 'unchanged', reason: null }
    const missing = [from, to].find((at) => !isKept(at))
    if (missing === undefined) return { state: 'known', reason: null }
    return { state: 'unknown', reason: notKeptReason(missing) }
  }
  return { turns: pairs.map(({ from, to }) => ({ from, to, ...stateOf(from, to) })), more }
}
