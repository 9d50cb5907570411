/** Limits the memory of bodies that are read, or of answers that are written, in total and by tenant. */
import { PlatformError } from '../../core/errors.ts'

const mebibyte = 1024 * 1024

/** Bytes, for `bodies` and `answers` each. Three of the largest bodies of one tenant leave room for others. */
const boundsOf = { all: 256 * mebibyte, tenant: 96 * mebibyte }

export type TextHold = {
  /** Holds so many bytes in place of those before. Throws when there is no room for them. */
  hold: (bytes: number) => void
  release: () => void
}

export type TextMemory = { open: (tenant: string) => TextHold }

/** `what`: the noun in the error message. */
export function textMemory(what: 'bodies' | 'answers', bounds = boundsOf): TextMemory {
  const held = new Map<string, number>()
  let all = 0
  return {
    open(tenant) {
      let own = 0
      const set = (bytes: number) => {
        const ofTenant = (held.get(tenant) ?? 0) + bytes - own
        all += bytes - own
        own = bytes
        if (ofTenant > 0) held.set(tenant, ofTenant)
        else held.delete(tenant)
      }
      return {
        hold(bytes) {
          const more = bytes - own
          if ((held.get(tenant) ?? 0) + more > bounds.tenant)
            throw new PlatformError(
              'rate_limited',
              `this workspace has ${bounds.tenant} bytes of ${what} under way: try again when some are done`,
            )
          if (all + more > bounds.all)
            throw new PlatformError(
              'unavailable',
              `the service has ${bounds.all} bytes of ${what} under way: try again soon`,
            )
          set(bytes)
        },
        release: () => set(0),
      }
    },
  }
}
