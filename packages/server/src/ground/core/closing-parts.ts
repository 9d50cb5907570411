/** The end of a server: its parts are closed in order, whatever becomes of those before. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'

export type ClosingPart = {
  /** As the log names it. */
  name: string
  close: () => unknown
  /** After it the part is left as it is. */
  limitMs?: number
}

const usualLimitMs = 10_000

/** In the order given, under these names. */
export const closingParts = (
  holders: Readonly<Record<string, { close(): unknown }>>,
  limits: Readonly<Record<string, number>> = {},
): ClosingPart[] =>
  Object.entries(holders).map(([name, holder]) => {
    const limitMs = limits[name]
    return { name, close: () => holder.close(), ...(limitMs !== undefined && { limitMs }) }
  })

/** Never rejects: what cannot be closed is logged, and the rest is closed all the same. */
export async function closeParts(
  parts: readonly ClosingPart[],
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  for (const { name, close, limitMs = usualLimitMs } of parts) {
    const ended = new AbortController()
    const late = clock.sleep(limitMs, ended.signal).then(() => {
      if (!ended.signal.aborted)
        log.error('a part of the server did not close in time', { part: name, limit_ms: limitMs })
    })
    const closed = Promise.try(close)
      .catch((error: unknown) =>
        log.error('a part of the server could not be closed', { part: name, error }),
      )
      .finally(() => ended.abort())
    await Promise.race([closed, late])
  }
}
