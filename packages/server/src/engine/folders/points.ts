/** Finds the state in which a working folder was at an event, as far as checkpoints tell. */
import type { CheckpointParts } from '@steward/protocol/checkpoints.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Reads } from '../../ground/database/database.ts'
import { partsOf } from '../../resources/checkpoints/checkpoints.ts'
import type { PastCheckpoint } from '../../resources/checkpoints/past-checkpoints.ts'
import { pastStore } from '../../resources/checkpoints/past-checkpoints.ts'
import { firstResultAfter, hasResultUpTo } from '../../sessions/log/cut.ts'
import type { ShownSessionRow } from '../../sessions/rows/sessions.ts'
import type { FolderSource } from './session-folders.ts'

type KeptPoint = {
  source: 'checkpoint'
  seq: number | null
  at: string | null
  parts: CheckpointParts
}
export type FolderPoint =
  | KeptPoint
  | { source: 'empty' }
  | { source: 'live'; at: string; own: string }
  | { source: 'unknown'; reason: string }

type PointDeps = { db: Reads; tenant: string; session: ShownSessionRow }

export const notKeptReason = (at: number): string =>
  `no checkpoint is kept that has the folder as it was at event ${at}: the server makes them when its setting CHECKPOINTS says, and keeps CHECKPOINT_HISTORY of them for CHECKPOINT_DAYS`

const notKept = (at: number): FolderPoint => ({ source: 'unknown', reason: notKeptReason(at) })

const pointOf = (row: PastCheckpoint): KeptPoint | undefined => {
  const parts = partsOf(row)
  return parts ? { source: 'checkpoint', seq: row.seq, at: row.taken_at, parts } : undefined
}

/** The folder as the session began: empty, or that of the session that it was forked from. */
export async function startPoint(deps: PointDeps): Promise<FolderPoint> {
  const forked = deps.session.forked_from && fromJson(deps.session.forked_from)
  if (!forked?.checkpoint) return { source: 'empty' }
  return keptAt(deps, forked.seq)
}

/** The folder behind the event, when no call between that event and a checkpoint has had a result. */
export async function pointAt(deps: PointDeps, seq: number): Promise<FolderPoint> {
  const { db, tenant, session } = deps
  const ref = { tenant, session: session.id }
  const forked = session.forked_from && fromJson(session.forked_from)
  if (forked && seq >= forked.seq) {
    const first = await firstResultAfter(db, { ...ref, at: forked.seq })
    if (first === undefined || first > seq) return startPoint(deps)
  }
  if (!(await hasResultUpTo(db, { ...ref, at: seq }))) return { source: 'empty' }
  return keptAt(deps, seq)
}

async function keptAt({ db, tenant, session }: PointDeps, seq: number): Promise<FolderPoint> {
  const ref = { tenant, session: session.id }
  const next = await firstResultAfter(db, { ...ref, at: seq })
  const found = await pastStore(db).before(tenant, session.id, next ?? Number.MAX_SAFE_INTEGER)
  if (!found) return notKept(seq)
  const since = await firstResultAfter(db, { ...ref, at: found.seq })
  if (since !== undefined && since <= seq) return notKept(seq)
  return pointOf(found) ?? notKept(seq)
}

/** The folder as it is now. */
export async function pointNow(deps: PointDeps, found: FolderSource): Promise<FolderPoint> {
  if (found.source === 'live') return found
  if (found.source === 'checkpoint') return { ...found, seq: null }
  const at = Number.MAX_SAFE_INTEGER
  const wasUsed = await hasResultUpTo(deps.db, { ...deps, session: deps.session.id, at })
  return found.isLost && wasUsed ? { source: 'unknown', reason: found.reason } : startPoint(deps)
}

/** The earliest state that is kept. */
export async function oldestPoint({
  db,
  tenant,
  session,
}: PointDeps): Promise<KeptPoint | undefined> {
  const row = await pastStore(db).oldest(tenant, session.id)
  return row && pointOf(row)
}
