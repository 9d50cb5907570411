/**
 * Work that outlasts the run of its job. So many pieces go on at once; a tenant and a publication have a part of the places, so that a
 * slow receiver holds nobody else.
 */
import { createShare } from '../../ground/core/share.ts'

export type PieceOfWork = { tenant_id: string; id: string; publication_id: string }

/** What a job does not look for now. */
export type SkippedWork = { ids: string[]; publications: string[]; tenants: string[] }

const total = 64
/** What one tenant may hold while the others hold nothing. */
const percent = 50
const ofPublication = 8

export type WorkInFlight = {
  skipped(now: number): SkippedWork
  /** True when the piece has begun; false without a place for it, and while it goes on already. */
  start(piece: PieceOfWork, work: () => Promise<void>): boolean
  isFree(piece: PieceOfWork, now: number): boolean
  /** The piece is not looked for before the time. */
  restUntil(id: string, at: number): void
  /** Resolves when all pieces have ended. */
  end(): Promise<void>
}

/** `onEnd`: a piece has ended, and may have made room for others. `work` never throws. */
export function createWorkInFlight(
  onEnd: (piece: PieceOfWork, hasMadeRoom: boolean) => void,
): WorkInFlight {
  const share = createShare({ total, percent })
  const going = new Map<string, Promise<void>>()
  const tenants = new Map<string, number>()
  const publications = new Map<string, number>()
  const resting = new Map<string, number>()

  function count(counts: Map<string, number>, key: string, change: 1 | -1): void {
    const sum = (counts.get(key) ?? 0) + change
    if (sum > 0) counts.set(key, sum)
    else counts.delete(key)
  }

  const isFull = (publication: string): boolean =>
    (publications.get(publication) ?? 0) >= ofPublication

  const hasRoom = ({ tenant_id, publication_id }: PieceOfWork): boolean =>
    !isFull(publication_id) && share.room(tenant_id) > 0

  function wake(now: number): void {
    for (const [id, at] of resting) if (at <= now) resting.delete(id)
  }

  return {
    skipped(now) {
      wake(now)
      return {
        ids: [...going.keys(), ...resting.keys()],
        publications: [...publications.keys()].filter(isFull),
        tenants: [...tenants.keys()].filter((tenant) => share.room(tenant) === 0),
      }
    },
    isFree(piece, now) {
      wake(now)
      return !going.has(piece.id) && !resting.has(piece.id) && hasRoom(piece)
    },
    restUntil: (id, at) => void resting.set(id, at),
    start(piece, work) {
      const { tenant_id, publication_id, id } = piece
      if (going.has(id) || !hasRoom(piece)) return false
      const release = share.take(tenant_id)
      if (!release) return false
      count(tenants, tenant_id, 1)
      count(publications, publication_id, 1)
      const end = (): void => {
        const wasFull = !hasRoom(piece)
        going.delete(id)
        count(tenants, tenant_id, -1)
        count(publications, publication_id, -1)
        release()
        onEnd(piece, wasFull)
      }
      going.set(id, work().finally(end))
      return true
    },
    async end() {
      await Promise.all(going.values())
    },
  }
}
