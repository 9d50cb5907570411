import { z } from 'zod'
import type { Bus } from '../../ground/bus/bus.ts'
import { isMissed } from '../../ground/bus/bus.ts'
import type { Notifying } from '../../ground/core/notice.ts'

const QueueNotice = z.object({ environment: z.string() })
type QueueNotice = z.infer<typeof QueueNotice>

/** Notifies pollers that the environment has an item to claim. */
export const notifyPollers = (tx: Notifying, queued: QueueNotice): void =>
  tx.afterCommit({ topic: 'queue', message: queued })

/** `miss`: notifications were lost, so any environment may have work and every poll looks. */
export const listenToQueue = (
  bus: Bus,
  { listen, miss }: { listen: (queued: QueueNotice) => void; miss: () => void },
): (() => void) =>
  bus.subscribe('queue', (message) => {
    if (isMissed(message)) miss()
    const queued = QueueNotice.safeParse(message)
    if (queued.success) listen(queued.data)
  })

const Lost = z.object({ work: z.string(), below: z.number() })

/** Notifies holders of claims whose generation is lower than `below`. */
export const notifyLostClaims = (tx: Notifying, lost: z.infer<typeof Lost>): void =>
  tx.afterCommit({ topic: 'claims', message: lost })

/** Aborts when the claim is lost. Listens until then, or until `until` aborts. */
export function claimLossSignal(
  bus: Bus,
  { workId, generation }: { workId: string; generation: number },
  until: AbortSignal,
): AbortSignal {
  const over = new AbortController()
  const quiet = bus.subscribe('claims', (message) => {
    const lost = Lost.safeParse(message)
    if (lost.success && lost.data.work === workId && generation < lost.data.below) over.abort()
  })
  const either = AbortSignal.any([over.signal, until])
  either.addEventListener('abort', quiet, { once: true })
  return either
}
