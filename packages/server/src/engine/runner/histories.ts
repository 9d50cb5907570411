/** Caches the histories of sessions that ran lately, so that a turn of a long session reads only the new events. */
import type { LoadMedia } from '@steward/harness/content.ts'
import type { History } from '@steward/harness/history.ts'
import {
  emptyHistory,
  foldHistory,
  historyTypes,
  resolveContent,
  sizeOf,
} from '@steward/harness/history.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { eventLoop, heavyBytes } from '../../ground/core/fairness/event-loop.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Reads } from '../../ground/database/database.ts'
import { eventOf, lastBoundary, readHistory } from '../../sessions/log/log.ts'
import type { ThreadRef } from '../../ground/core/refs.ts'

const page = { limit: 1_000, bytes: 4 * 1024 * 1024 }
/** A history is dropped after this time without a use, so that an idle process holds none. */
const unusedMs = 10 * 60 * 1000
const lookMs = 60_000

type CachedHistory = { seq: number; history: History; bytes: number; usedMs: number }

export function createHistoryCache(
  mostBytes: number,
  mediaFor: (tenant: string) => LoadMedia,
  clock: Pick<Clock, 'now'>,
) {
  /** Ordered by last use, the oldest first. */
  const known = new Map<string, CachedHistory>()
  let bytes = 0

  function forgetUnused(): void {
    for (const [session, { usedMs }] of known) {
      if (usedMs > clock.now() - unusedMs) break
      forget(session)
    }
  }

  function forget(session: string): void {
    bytes -= known.get(session)?.bytes ?? 0
    known.delete(session)
  }

  return {
    forget,
    forgetUnused,
    job: {
      name: 'forget unused histories',
      everyMs: lookMs,
      run: async () => forgetUnused(),
    } satisfies Job,
    /** The history from everything in the log so far. Reads nothing before the newest compaction boundary. */
    async of(read: Reads, { tenant, session, thread }: ThreadRef): Promise<History> {
      const key = thread ?? session
      const ref = { tenant, session, thread }
      let { seq, history } = known.get(key) ?? {
        seq: (await lastBoundary(read, ref)) - 1,
        history: emptyHistory(),
      }
      for (;;) {
        const { rows, more } = await readHistory(read, tenant, session, {
          after: seq,
          thread,
          types: historyTypes,
          ...page,
        })
        const folded = rows.map((row) => ({
          event: eventOf(row),
          ...(row.opaque === null ? {} : { opaque: row.opaque }),
        }))
        history = foldHistory(history, folded)
        seq = rows.at(-1)?.seq ?? seq
        if (!more) break
        await eventLoop.wait(tenant)
      }
      history = await resolveContent(history, mediaFor(tenant))
      // The caller writes the model request from this history right away, which blocks the event loop as long.
      if (sizeOf(history) > heavyBytes) await eventLoop.wait(tenant)
      forget(key)
      const size = sizeOf(history)
      known.set(key, { seq, history, bytes: size, usedMs: clock.now() })
      bytes += size
      for (const oldest of known.keys()) {
        if (bytes <= mostBytes || oldest === key) break
        forget(oldest)
      }
      return history
    },
  }
}
