import { z } from 'zod'
import type { Bus } from '../bus/bus.ts'

const Queued = z.object({ environment: z.string() })
type Queued = z.infer<typeof Queued>

/** Tells pollers that there is something to claim; after the commit. */
export const wakePollers = (bus: Bus, queued: Queued): void => bus.publish('queue', queued)

export const hearQueue = (bus: Bus, listen: (queued: Queued) => void): (() => void) =>
  bus.subscribe('queue', (message) => {
    const queued = Queued.safeParse(message)
    if (queued.success) listen(queued.data)
  })
