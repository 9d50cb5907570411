/** Places of work in which each publication gets a part, so that a slow receiver does not hold up others. */
import type { WorkInSlots, WorkSlots } from '../../ground/core/fairness/work-slots.ts'
import { createWorkSlots } from '../../ground/core/fairness/work-slots.ts'

export type PieceOfWork = { tenant_id: string; id: string; publication_id: string }

/** Work that the job leaves out of its queries for now. */
export type SkippedWork = WorkInSlots & { publications: string[] }

const total = 64
/** The percentage of places that one tenant may hold while the others hold none. */
const percent = 50
const ofPublication = 8

export type WorkInFlight = Omit<WorkSlots<PieceOfWork>, 'skipped'> & {
  skipped(now: number): SkippedWork
}

/** `onEnd`: as `createWorkPlaces` calls it. */
export function createWorkInFlight(
  onEnd: (piece: PieceOfWork, isAwaited: boolean) => void,
): WorkInFlight {
  const isFull = (publication: string): boolean =>
    slots.pieces().filter((each) => each.publication_id === publication).length >= ofPublication

  const slots = createWorkSlots<PieceOfWork>(
    { total, percent, mayStart: ({ publication_id }) => !isFull(publication_id) },
    onEnd,
  )

  return {
    ...slots,
    skipped(now) {
      const publications = new Set(slots.pieces().map((each) => each.publication_id))
      return { ...slots.skipped(now), publications: [...publications].filter(isFull) }
    },
  }
}
