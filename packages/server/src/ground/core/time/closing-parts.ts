/** The end of a server: closes its parts in order. A part that fails or hangs does not stop the others. */
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'

export type ClosingPart = {
  /** The name of the part in the log. */
  name: string
  close: () => unknown
  /** Milliseconds for the close. After them the next part is closed. Default: 10,000. */
  limitMs?: number
}

const usualLimitMs = 10_000

/** Parts by their names, in the order of `holders`. `limits`: milliseconds by name. */
export const closingParts = (
  holders: Readonly<Record<string, { close(): unknown }>>,
  limits: Readonly<Record<string, number>> = {},
): ClosingPart[] =>
  Object.entries(holders).map(([name, holder]) => {
    const limitMs = limits[name]
    return { name, close: () => holder.close(), ...(limitMs !== undefined && { limitMs }) }
  })

/** Never rejects: logs each part that fails to close, and closes the others. */
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
