/** Open event streams: their number by tenant, and their end when the server stops. */
import { PlatformError } from '../core/errors.ts'
import type { Share } from '../core/fairness/share.ts'

export type StreamSlot = {
  /** Aborts when the stream has to end. */
  readonly signal: AbortSignal
  /** Ends the stream from the server's side. */
  end(): void
  /** Releases the slot. */
  leave(): void
}

export type Streams = {
  /** Throws when there is no room for another stream of the tenant. */
  enter(tenant: string): StreamSlot
  /** Ends all open streams and refuses new ones. */
  close(): void
}

export function createStreams(share: Share): Streams {
  const open = new Set<StreamSlot>()
  let isClosed = false
  return {
    enter(tenant) {
      if (isClosed) throw new PlatformError('unavailable', 'the server is being stopped')
      const giveBack = share.take(tenant)
      if (!giveBack)
        throw new PlatformError(
          'rate_limited',
          `this workspace has as many streams open as there is room for, ${share.held(tenant)} in this process (quota streams): close some, or try again later`,
        )
      const ending = new AbortController()
      const slot: StreamSlot = {
        signal: ending.signal,
        end: () => ending.abort(),
        leave() {
          open.delete(slot)
          giveBack()
        },
      }
      open.add(slot)
      return slot
    },
    close() {
      isClosed = true
      for (const each of open) each.end()
    },
  }
}
