/** A request's body that may have to be sent a second time: kept as it streams, within a bound. */
import { Readable } from 'node:stream'

/** Bytes. What is longer is sent once; its 401 is the caller's. */
export const largestReplay = 1024 * 1024

export function replayable(source: Readable, limit = largestReplay) {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let kept: Buffer[] | undefined = []
  let bytes = 0
  let isEnded = false
  let isSettled = false

  async function next(): Promise<Buffer | undefined> {
    const { value, done } = await chunks.next()
    if (done) {
      isEnded = true
      return undefined
    }
    const chunk = Buffer.from(value)
    bytes += chunk.length
    if (bytes > limit) kept = undefined
    kept?.push(chunk)
    return chunk
  }

  const first = new Readable({
    read() {
      next().then(
        (chunk) => first.push(chunk ?? null),
        (error: Error) => first.destroy(error),
      )
    },
    destroy(error, done) {
      if (isSettled) source.destroy()
      done(error)
    },
  })
  return {
    /** For the first sending. Its end leaves the source as it is, so that the rest can still be read. */
    first,
    /** The whole body, read to its end; undefined when it is too long. Rejects when the source fails. */
    async again(): Promise<Buffer | undefined> {
      while (!isEnded && kept) await next()
      return kept && Buffer.concat(kept)
    },
    /** There will be no second time: the source ends with the first sending. */
    settle(): void {
      isSettled = true
      kept = undefined
      if (first.destroyed) source.destroy()
    },
  }
}
