/** Open event streams: their number by tenant, and their end when the server stops. */
import { PlatformError } from '../core/errors.ts'
import type { Share } from '../core/share.ts'

export type StreamPlace = {
  /** Aborts when the stream has to end. */
  readonly signal: AbortSignal
  /** Ends the stream from the server's side. */
  end(): void
  /** Releases the place. */
  leave(): void
}

export type Streams = {
  /** Throws when there is no room for another stream of the tenant. */
  enter(tenant: string): StreamPlace
  /** Ends all open streams and refuses new ones. */
  close(): void
}

export function createStreams(share: Share): Streams {
  const open = new Set<StreamPlace>()
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
      const place: StreamPlace = {
        signal: ending.signal,
        end: () => ending.abort(),
        leave() {
          open.delete(place)
          giveBack()
        },
      }
      open.add(place)
      return place
    },
    close() {
      isClosed = true
      for (const each of open) each.end()
    },
  }
}
