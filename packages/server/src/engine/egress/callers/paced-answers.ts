/** Large answers of servers that tenants name, read in turn: an answer without an end leaves the loop to the others. */
import { awaitLater } from '@steward/base/await-later.ts'
import type { GuardedFetch } from '@steward/harness/tools/fetch.ts'
import type { EventLoop } from '../../../ground/core/fairness/event-loop.ts'
import { createLoop } from '../../../ground/core/fairness/event-loop.ts'

/** Bytes of an answer that are passed on as they come, and bytes that are passed on at once. */
const [freeBytes, mostAtOnce] = [64 * 1024, 16 * 1024]

/** Each piece costs less than what the order of heavy work gives a break for, and there is no end of them. */
const answerLoop = createLoop({ shortPieceMs: 1 })

/** `loop`: the order in which the pieces beyond the first 64 KiB of each answer are passed on. */
export function paceAnswers(
  tenant: string,
  fetch: GuardedFetch,
  loop: Pick<EventLoop, 'wait'> = answerLoop,
): GuardedFetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, statusText, headers } = response
    if (!body) return response
    const paced = inTurn(body, () => loop.wait(tenant))
    return new Response(ReadableStream.from(paced), { status, statusText, headers })
  }
}

async function* inTurn(
  body: ReadableStream<Uint8Array>,
  wait: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const read = () => awaitLater(reader.read())
  try {
    let bytes = 0
    for (let next = read(); ;) {
      const { value } = await next
      // The end is in turn too: it is when an answer is parsed.
      if (bytes > freeBytes) await wait()
      if (!value) return
      const pieces = [value]
      let size = value.length
      next = read()
      const round = nextRound()
      // A server can send its answer byte by byte, and each piece that is passed on costs more than its bytes.
      while (size < mostAtOnce) {
        const more = await Promise.race([next, round]).catch(() => undefined)
        if (!more?.value) break
        pieces.push(more.value)
        size += more.value.length
        next = read()
      }
      bytes += size
      yield pieces.length > 1 ? Buffer.concat(pieces) : value
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const nextRound = () => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))
