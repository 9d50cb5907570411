/**
 * Work that outlasts the run of its job. Only some pieces run at once. Each tenant and each publication gets a part of
 * the places, so that a slow receiver does not hold up others.
 */
import { createShare } from '../../ground/core/share.ts'

export type PieceOfWork = { tenant_id: string; id: string; publication_id: string }

/** Work that the job leaves out of its queries for now. */
export type SkippedWork = { ids: string[]; publications: string[]; tenants: string[] }

const total = 64
/** The percentage of places that one tenant may hold while the others hold none. */
const percent = 50
const ofPublication = 8

export type WorkInFlight = {
  skipped(now: number): SkippedWork
  /** Returns true when the piece has begun, and false when there is no room or when the piece already runs. */
  start(piece: PieceOfWork, work: () => Promise<void>): boolean
  isFree(piece: PieceOfWork, now: number): boolean
  /** Leaves the piece out of queries until the time. */
  restUntil(id: string, at: number): void
  /** Resolves when all pieces have ended. */
  end(): Promise<void>
}

/**
 * `onEnd`: called when a piece has ended. `isAwaited`: the piece has made room for other pieces, or a query has left it
 * out while it ran, and there may be more work for it by now. `work` never throws.
 */
export function createWorkInFlight(
  onEnd: (piece: PieceOfWork, isAwaited: boolean) => void,
): WorkInFlight {
  const share = createShare({ total, percent })
  const going = new Map<string, { piece: PieceOfWork; ended: Promise<void> }>()
  /** The pieces that a query has left out since they began. */
  const leftOut = new Set<string>()
  const resting = new Map<string, number>()

  const pieces = (): PieceOfWork[] => [...going.values()].map(({ piece }) => piece)

  const isFull = (publication: string): boolean =>
    pieces().filter((each) => each.publication_id === publication).length >= ofPublication

  const hasRoom = ({ tenant_id, publication_id }: PieceOfWork): boolean =>
    !isFull(publication_id) && share.room(tenant_id) > 0

  function wake(now: number): void {
    for (const [id, at] of resting) if (at <= now) resting.delete(id)
  }

  const distinct = (values: readonly string[]): string[] => [...new Set(values)]

  return {
    skipped(now) {
      wake(now)
      const all = pieces()
      for (const { id } of all) leftOut.add(id)
      return {
        ids: [...going.keys(), ...resting.keys()],
        publications: distinct(all.map((each) => each.publication_id)).filter(isFull),
        tenants: distinct(all.map((each) => each.tenant_id)).filter(
          (tenant) => share.room(tenant) === 0,
        ),
      }
    },
    isFree(piece, now) {
      wake(now)
      return !going.has(piece.id) && !resting.has(piece.id) && hasRoom(piece)
    },
    restUntil: (id, at) => void resting.set(id, at),
    start(piece, work) {
      if (going.has(piece.id) || isFull(piece.publication_id)) return false
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
