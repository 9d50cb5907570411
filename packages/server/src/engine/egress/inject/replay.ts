/** Keeps a request body while it streams, up to a limit, because the body may have to be sent twice. */
import { Readable } from 'node:stream'

/** Longest body that is kept, in bytes. A longer body is sent once, and the caller gets the 401. */
export const largestReplay = 1024 * 1024

export function replayableBody(source: Readable, limit = largestReplay) {
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
    /** The body for the first request. Its end leaves the source open, so that the rest can be read. */
    first,
    /**
     * Reads the source to its end and returns the whole body, or undefined when it is too long. Rejects when the source
     * fails.
     */
    async again(): Promise<Buffer | undefined> {
      while (!isEnded && kept) await next()
      return kept && Buffer.concat(kept)
    },
    /** Call when there will be no second request: the source then ends with the first. */
    settle(): void {
      isSettled = true
      kept = undefined
      if (first.destroyed) source.destroy()
    },
  }
}
