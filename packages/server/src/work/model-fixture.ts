/**
 * For tests: who owns what, written once more as a small model of its own. A session has items one after the other; of
 * an item, whoever was handed the newest generation is the owner. contract.md 3 and 4
 */
type Phase = 'queued' | 'reserved' | 'starting' | 'active' | 'stopping' | 'stopped'

export type ModelItem = {
  id: string | undefined
  phase: Phase
  generation: number
  /** When it is due, was reserved, or its lease ends, by phase. */
  at: number
  /** The newest beat, and the one before it. */
  beats: [string, string?]
  startedAt: number
  attempts: number
}

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

export const newModelSession = (): ModelSession => ({
  ...{ status: 'idle', due: false, messages: 0, call: undefined, idleSince: undefined },
  items: [],
})

const held: readonly Phase[] = ['starting', 'active', 'stopping']

export const liveOf = ({ items }: ModelSession): ModelItem | undefined =>
  items.findLast(({ phase }) => phase !== 'stopped')

/** Nothing may be lost while this is so. */
export const owes = ({ status, due, call }: ModelSession): boolean =>
  status !== 'done' && (status === 'running' || due || call !== undefined)

export const isFree = ({ phase, at }: ModelItem, now: number, reclaimMs: number): boolean =>
  phase === 'queued'
    ? at <= now
    : phase === 'reserved'
      ? at <= now - reclaimMs
      : (phase === 'starting' || phase === 'active') && at <= now

/** Whether a token of this generation may act for the session. */
export function mayAct(item: ModelItem, generation: number, now: number): boolean {
  if (generation !== item.generation) return false
  return item.phase === 'reserved' || (held.includes(item.phase) && item.at > now)
}

export function put(session: ModelSession, now: number, attempts = 0): void {
  const live = liveOf(session)
  if (live && !(live.phase === 'stopping' && live.at <= now)) return
  if (live) live.phase = 'stopped'
  const at = attempts === 0 ? now : now + 1_000 * 2 ** attempts
  session.items.push({
    ...{ id: undefined, phase: 'queued', generation: 0, at, beats: [noBeat], startedAt: 0 },
    attempts,
  })
}

/** Handed out; false when that was once too often, and it has ended. */
export function take(session: ModelSession, item: ModelItem, now: number): boolean {
  if (item.phase !== 'queued') item.attempts++
  Object.assign(item, { phase: 'reserved', at: now, beats: [noBeat], startedAt: 0 })
  item.generation++
  if (item.attempts <= mostAttempts) return true
  item.phase = 'stopped'
  if (owes(session)) tell(session, now)
  return false
}

/** An idle session says again that it is idle. */
function tell(session: ModelSession, now: number): void {
  if (session.status === 'idle' && session.idleSince !== undefined) session.idleSince = now
}

export function takeUp(item: ModelItem, now: number): boolean {
  if (item.phase === 'starting') return true
  if (item.phase !== 'reserved') return false
  Object.assign(item, { phase: 'starting', at: now + leaseMs })
  return true
}

/** What is said to a beat; `again` when it is the one that was counted last. */
export function beatOf(
  session: ModelSession,
  item: ModelItem,
  beat: { generation: number; expected: string | undefined; ttlMs: number },
  { now, idleMs }: { now: number; idleMs: number },
): 'next' | 'again' | 'ending' | 'fenced' {
  if (beat.generation !== item.generation) return 'fenced'
  const { status, idleSince = 0 } = session
  const rested = now - Math.max(idleSince, item.startedAt)
  if (item.phase === 'active' && status === 'idle' && !owes(session) && rested >= idleMs)
    Object.assign(item, { phase: 'stopping', at: now + leaseMs })
  if (item.phase === 'stopping' || item.phase === 'stopped') return 'ending'
  const [newest, before] = item.beats
  const { expected = newest } = beat
  const isAgain = expected === before
  if (!isAgain && expected !== newest) return 'fenced'
  item.startedAt ||= now
  item.phase = 'active'
  item.at = now + Math.min(Math.max(beat.ttlMs, 10_000), 300_000)
  return isAgain ? 'again' : 'next'
}

/** `generation` is null for whoever holds a key. */
export function stopIt(
  session: ModelSession,
  item: ModelItem,
  { generation, force }: { generation: number | null; force: boolean },
  now: number,
): Phase | 'fenced' {
  if (generation !== null && generation !== item.generation) return 'fenced'
  if (item.phase === 'stopped' || (item.phase === 'stopping' && !force)) return item.phase
  if (!force && held.includes(item.phase))
    Object.assign(item, { phase: 'stopping', at: now + leaseMs })
  else leave(session, item, now)
  return item.phase
}

function leave(session: ModelSession, item: ModelItem, now: number): void {
  item.phase = 'stopped'
  if (!owes(session)) return
  if (item.attempts < mostAttempts) put(session, now, item.attempts + 1)
  else tell(session, now)
}

/** Time alone ends what was asked to stop. */
export function sweepIt(session: ModelSession, now: number): void {
  const live = liveOf(session)
  if (live?.phase === 'stopping' && live.at <= now) leave(session, live, now)
}

/** Its session takes no more events: a queued item ends, a claimed one is asked to. */
export function endIt(session: ModelSession, now: number): void {
  session.status = 'done'
  const live = liveOf(session)
  if (!live || live.phase === 'stopping') return
  if (held.includes(live.phase)) Object.assign(live, { phase: 'stopping', at: now + leaseMs })
  else live.phase = 'stopped'
}
