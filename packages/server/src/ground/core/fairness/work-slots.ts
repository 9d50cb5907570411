/**
 * Work that outlasts the run of its job. Only some pieces run at once. Each tenant gets a part of the slots, so that
 * one tenant does not hold up others.
 */
import { createShare } from './share.ts'

export type WorkPiece = { tenant_id: string; id: string }

/** Work that the job leaves out of its queries for now. `groups`: those that have as many pieces as they may. */
export type WorkInSlots = { ids: string[]; tenants: string[]; groups: string[] }

export type WorkSlots<Piece extends WorkPiece> = {
  skipped(now: number): WorkInSlots
  /** Returns true when the piece has begun, and false when there is no room or when the piece already runs. */
  start(piece: Piece, work: () => Promise<void>): boolean
  isFree(piece: Piece, now: number): boolean
  /** Leaves the piece out of queries until the time. */
  restUntil(id: string, at: number): void
  /** Resolves when all pieces have ended. */
  end(): Promise<void>
}

export type SlotLimits<Piece> = {
  total: number
  /** Percentage of the slots that one tenant may hold while the others hold none. */
  percent: number
  /** Pieces that must not all wait behind one slow receiver: at most `most` of a group run at once. */
  group?: { of: (piece: Piece) => string; most: number }
}

/**
 * `onEnd`: called when a piece has ended. `isAwaited`: the piece has made room for other pieces, or a query has left it
 * out while it ran, and there may be more work for it by now. `work` never throws.
 */
export function createWorkSlots<Piece extends WorkPiece>(
  { total, percent, group }: SlotLimits<Piece>,
  onEnd: (piece: Piece, isAwaited: boolean) => void,
): WorkSlots<Piece> {
  const share = createShare({ total, percent })
  const going = new Map<string, { piece: Piece; ended: Promise<void> }>()
  /** The pieces that a query has left out since they began. */
  const leftOut = new Set<string>()
  const resting = new Map<string, number>()

  const pieces = (): Piece[] => [...going.values()].map(({ piece }) => piece)

  function fullGroups(): string[] {
    if (!group) return []
    const counts = new Map<string, number>()
    for (const piece of pieces())
      counts.set(group.of(piece), (counts.get(group.of(piece)) ?? 0) + 1)
    return [...counts].filter(([, count]) => count >= group.most).map(([name]) => name)
  }

  const mayStart = (piece: Piece): boolean => !group || !fullGroups().includes(group.of(piece))

  const hasRoom = (piece: Piece): boolean => mayStart(piece) && share.room(piece.tenant_id) > 0

  function wake(now: number): void {
    for (const [id, at] of resting) if (at <= now) resting.delete(id)
  }

  return {
    skipped(now) {
      wake(now)
      const all = pieces()
      for (const { id } of all) leftOut.add(id)
      const tenants = [...new Set(all.map((each) => each.tenant_id))]
      return {
        ids: [...going.keys(), ...resting.keys()],
        tenants: tenants.filter((tenant) => share.room(tenant) === 0),
        groups: fullGroups(),
      }
    },
    isFree(piece, now) {
      wake(now)
      return !going.has(piece.id) && !resting.has(piece.id) && hasRoom(piece)
    },
    restUntil: (id, at) => void resting.set(id, at),
    start(piece, work) {
      if (going.has(piece.id) || !mayStart(piece)) return false
      const release = share.take(piece.tenant_id)
      if (!release) return false
      const end = (): void => {
        const isAwaited = leftOut.delete(piece.id) || !hasRoom(piece)
        going.delete(piece.id)
        release()
        onEnd(piece, isAwaited)
      }
      going.set(piece.id, { piece, ended: work().finally(end) })
      return true
    },
    async end() {
      await Promise.all([...going.values()].map(({ ended }) => ended))
    },
  }
}

/**
 * Starts the pieces that a query finds, and asks it again, until it finds fewer than its limit or `start` refuses all:
 * then there is no room, or the process stops.
 */
export async function startFound<Piece>(
  limit: number,
  find: () => Promise<readonly Piece[]>,
  start: (piece: Piece) => boolean,
): Promise<void> {
  for (;;) {
    const found = await find()
    const started = found.filter((each) => start(each))
    if (found.length < limit || started.length === 0) return
  }
}
