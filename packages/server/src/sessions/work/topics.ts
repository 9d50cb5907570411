import { z } from 'zod'
import type { Bus } from '../../ground/bus/bus.ts'
import { isMissed } from '../../ground/bus/bus.ts'

const Queued = z.object({ environment: z.string() })
type Queued = z.infer<typeof Queued>

/** Tells pollers that there is something to claim; after the commit. */
export const notifyPollers = (bus: Bus, queued: Queued): void => bus.publish('queue', queued)

/** `missed`: whoever waits looks, as any environment may have work. */
export const listenToQueue = (
  bus: Bus,
  { listen, miss }: { listen: (queued: Queued) => void; miss: () => void },
): (() => void) =>
  bus.subscribe('queue', (message) => {
    if (isMissed(message)) miss()
    const queued = Queued.safeParse(message)
    if (queued.success) listen(queued.data)
  })

const Lost = z.object({ work: z.string(), below: z.number() })

/** Claims of the item whose generation is below that stand no more; after the commit. */
export const notifyLostClaims = (bus: Bus, lost: z.infer<typeof Lost>): void =>
  bus.publish('claims', lost)

/** Aborts once the claim is lost; listens until then, or until the other signal does. */
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
