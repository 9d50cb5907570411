/**
 * For tests: a small second implementation of work items, to compare with. A session has one item after the other. The
 * owner of an item is the worker that has claimed its newest generation.
 */
type ItemPhase = 'queued' | 'reserved' | 'starting' | 'active' | 'stopping' | 'stopped'

export type ModelItem = {
  id: string | undefined
  phase: ItemPhase
  generation: number
  /** By phase: when the item is due, was reserved, or when its lease ends. */
  at: number
  /** The newest beat, and the one before it. */
  beats: [string, string?]
  startedAt: number
  /** End of a reservation that is not acknowledged. */
  until: number
  /** The worker that has claimed the item. */
  holder: ModelWorker | undefined
  isAcknowledged: boolean
  /** True when the lapse was announced. */
  isHinted: boolean
} & LeftAttempts

/** How many acknowledged claims in a row left work undone, and when the first and the last of them did. */
type LeftAttempts = { attempts: number; leftAt: readonly [number, number] | undefined }
export type ModelWorker = { key: string; id: string | undefined }

export type ModelSession = {
  status: 'idle' | 'running' | 'done'
  due: boolean
  messages: number
  /** The call that waits for a worker. */
  call: string | undefined
  idleSince: number | undefined
  items: ModelItem[]
}

export const noBeat = 'NO_HEARTBEAT'
const leaseMs = 90_000
const mostAttempts = 5
const attemptsWithinMs = 300_000
/** How long a worker that polls keeps others from the items that they let lapse. */
const presentMs = 30_000

export const newModelSession = (): ModelSession => ({
  ...{ status: 'idle', due: false, messages: 0, call: undefined, idleSince: undefined },
  items: [],
})

const held: readonly ItemPhase[] = ['starting', 'active', 'stopping']

export const liveOf = ({ items }: ModelSession): ModelItem | undefined =>
  items.findLast(({ phase }) => phase !== 'stopped')

/** While this is true, no work may be lost. */
export const owesWork = ({ status, due, call }: ModelSession): boolean =>
  status !== 'done' && (status === 'running' || due || call !== undefined)

/** `isAlone`: no other worker polls. The worker may then get items that it let lapse itself. */
export function isFree(
  item: ModelItem,
  { now, reclaimMs, by, isAlone }: { now: number; reclaimMs: number } & ModelPoller,
): boolean {
  if (item.phase === 'queued') return item.at <= now
  const since = item.phase === 'reserved' ? item.at + reclaimMs : item.at
  if (!isLapsing(item) || since > now) return false
  return !isOwn(item, by) || isAlone || since <= now - presentMs
}
export type ModelPoller = { by: ModelWorker; isAlone: boolean }

export const isOwn = ({ holder, phase }: ModelItem, by: ModelWorker): boolean =>
  phase !== 'queued' && by.id !== undefined && holder?.id === by.id

const isLapsing = ({ phase }: ModelItem): boolean =>
  phase === 'reserved' || phase === 'starting' || phase === 'active'

/** The turn is over and no client or worker has to act. */
const isOver = ({ status, due, call, idleSince }: ModelSession): boolean =>
  status === 'idle' && idleSince !== undefined && !due && call === undefined

/** True when a token of this generation may act for the session. */
export function mayAct(item: ModelItem, generation: number, now: number): boolean {
  if (generation !== item.generation) return false
  return item.phase === 'reserved' || (held.includes(item.phase) && item.at > now)
}

export function putItem(session: ModelSession, now: number, left?: LeftAttempts): void {
  const live = liveOf(session)
  if (live && !(live.phase === 'stopping' && live.at <= now)) return
  if (live) live.phase = 'stopped'
  const pauses = Math.min(Math.max(left?.attempts ?? 0, 1), mostAttempts)
  session.items.push({
    ...{ id: undefined, phase: 'queued', generation: 0, beats: [noBeat], startedAt: 0 },
    ...{ until: 0, holder: undefined, isAcknowledged: false, isHinted: false },
    at: left ? now + 1_000 * 2 ** pauses : now,
    ...(left ?? { attempts: 0, leftAt: undefined }),
  })
}

const isExhausted = ({ attempts, leftAt: [first, last] = [0, 0] }: LeftAttempts): boolean =>
  attempts > mostAttempts && last - first >= attemptsWithinMs

const countAttempt = ({ attempts, leftAt }: LeftAttempts, at: number): LeftAttempts => ({
  attempts: attempts + 1,
  leftAt: [leftAt?.[0] ?? at, at],
})

/**
 * Claims the item. Returns false when the item is exhausted, which ends it. Only an expired lease counts as an attempt.
 */
export function takeItem(
  session: ModelSession,
  item: ModelItem,
  { now, reclaimMs, by }: { now: number; reclaimMs: number; by: ModelWorker },
): boolean {
  if (item.phase === 'starting' || item.phase === 'active')
    Object.assign(item, countAttempt(item, item.at))
  Object.assign(item, { phase: 'reserved', at: now, beats: [noBeat], startedAt: 0 })
  Object.assign(item, { until: now + reclaimMs, holder: by })
  Object.assign(item, { isAcknowledged: false, isHinted: false })
  item.generation++
  if (!isExhausted(item)) return true
  item.phase = 'stopped'
  if (owesWork(session)) tell(session, now)
  return false
}

/** An idle session gets another idle event. */
function tell(session: ModelSession, now: number): void {
  if (session.status === 'idle' && session.idleSince !== undefined) session.idleSince = now
}

/** True when this worker's acknowledgement counts: only the worker that has claimed the item may acknowledge it. */
export function acceptAcknowledgement(item: ModelItem, by: ModelWorker, now: number): boolean {
  if (item.phase !== 'starting' && item.phase !== 'reserved') return false
  const { key, id } = item.holder ?? by
  if (key !== by.key || (id !== undefined && by.id !== undefined && id !== by.id)) return false
  item.holder = { key, id: id ?? by.id }
  if (item.phase === 'starting') return true
  Object.assign(item, { phase: 'starting', at: now + leaseMs })
  Object.assign(item, { isAcknowledged: true, isHinted: false })
  return true
}

/** The answer to a heartbeat. `again`: it repeats the last counted heartbeat. */
export function judgeBeat(
  session: ModelSession,
  item: ModelItem,
  beat: { generation: number; expected: string | undefined; ttlMs: number },
  { now, idleMs }: { now: number; idleMs: number },
): 'next' | 'again' | 'ending' | 'fenced' {
  if (beat.generation !== item.generation) return 'fenced'
  const { status, idleSince = 0 } = session
  const rested = now - Math.max(idleSince, item.startedAt)
  if (item.phase === 'active' && status === 'idle' && !owesWork(session) && rested >= idleMs)
    Object.assign(item, { phase: 'stopping', at: now + leaseMs })
  if (item.phase === 'stopping' || item.phase === 'stopped') return 'ending'
  const [newest, before] = item.beats
  const { expected = newest } = beat
  const isAgain = expected === before
  if (!isAgain && expected !== newest) return 'fenced'
  item.startedAt ||= now
  Object.assign(item, { phase: 'active', isAcknowledged: true, isHinted: false })
  item.at = now + Math.min(Math.max(beat.ttlMs, 10_000), 300_000)
  return isAgain ? 'again' : 'next'
}

/** `generation` is null for the holder of a key. */
export function stopIt(
  session: ModelSession,
  item: ModelItem,
  { generation, force }: { generation: number | null; force: boolean },
  now: number,
): ItemPhase | 'fenced' {
  if (generation !== null && generation !== item.generation) return 'fenced'
  if (item.phase === 'stopped' || (item.phase === 'stopping' && !force)) return item.phase
  if (!force && held.includes(item.phase))
    Object.assign(item, { phase: 'stopping', at: now + leaseMs })
  else leave(session, item, now)
  return item.phase
}

function leave(session: ModelSession, item: ModelItem, now: number): void {
  item.phase = 'stopped'
  if (!owesWork(session)) return
  const { attempts, leftAt, isAcknowledged } = item
  const left = isAcknowledged ? countAttempt(item, now) : { attempts, leftAt }
  if (isExhausted(left)) tell(session, now)
  else putItem(session, now, left)
}

/** Settles what time alone decides: items that were asked to stop, and lapsed items with no work left. */
export function settleModel(session: ModelSession, now: number): void {
  const live = liveOf(session)
  if (live?.phase === 'stopping' && live.at <= now) leave(session, live, now)
  const lapsed = liveOf(session)
  if (!lapsed || !isLapsing(lapsed) || lapsed.isHinted) return
  if ((lapsed.phase === 'reserved' ? lapsed.until : lapsed.at) > now) return
  if (isOver(session)) lapsed.phase = 'stopped'
  else lapsed.isHinted = true
}

/** A turn that leaves no work withdraws its queued item. */
export function restIt(session: ModelSession): void {
  const live = liveOf(session)
  if (live?.phase === 'queued' || (live && isLapsing(live) && live.isHinted)) live.phase = 'stopped'
}

/** The session takes no more events: a queued item stops, a claimed item is asked to stop. */
export function endIt(session: ModelSession, now: number): void {
  session.status = 'done'
  const live = liveOf(session)
  if (!live || live.phase === 'stopping') return
  if (held.includes(live.phase)) Object.assign(live, { phase: 'stopping', at: now + leaseMs })
  else live.phase = 'stopped'
}
