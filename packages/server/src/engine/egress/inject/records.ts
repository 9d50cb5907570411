/** What is kept of each call: a log record, counts, and the audit row of each use of a credential. */
import { randomUUIDv7 } from 'node:crypto'
import type { Refusal } from '@steward/gate/outbound.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { OutboundCaller } from '../binding.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'

const flushMs = 1_000
const mostWaiting = 500
const mostClear = 10_000

export type About = {
  tenant: string
  session: string
  caller: OutboundCaller
  server: string
  host: string
  method: string
}
/** `ms` to the head of the answer. */
export type Ended = { status: number; refreshed: boolean; ms: number }

export type Use = {
  /** Resolves when the row's beginning is on disk, which it soon is in any case; no answer is passed on before. */
  durable: () => Promise<void>
  end(ended: Ended): void
}

/** The audit's rows; the vault and credential of an inline token are null. */
export interface UseRows {
  /** Written soon, and at once when the returned function is called, which resolves when it is durable. */
  begin(
    use: About & { id: string; vault: string | null; credential: string | null; at: number },
  ): () => Promise<void>
  end(tenant: string, ended: readonly (Ended & { id: string })[]): Promise<void>
  /** Resolves when nothing is waiting to be written. */
  written(): Promise<void>
}

export type Counts = {
  forwarded: number
  /** Without an answer. */
  failed: number
  refused: number
  tunnelled: number
  refreshed: number
}

export interface Records {
  /** A credential begins to be used; null: a server's inline token. */
  begin(about: About, row: CredentialRow | null): Use
  /** One log record of a call that ended, one way or another. */
  ended(about: About, ended: Ended, refusal?: Refusal): void
  tunnelled(about: About, ended: Ended): void
  /** A placeholder went over plain http to this host. Returns whether that was news of this session and host. */
  leftInClear(whose: Pick<About, 'tenant' | 'session'>, host: string): boolean
  /** Whether this refusal has its record. */
  has(refusal: Refusal): boolean
  readonly counts: Readonly<Counts>
  /** Writes what has ended since. */
  flush(): Promise<void>
  close(): Promise<void>
}

export function records(deps: { rows: UseRows; log: Log; clock: Clock }): Records {
  const { rows, log, clock } = deps
  const known = new WeakSet<Refusal>()
  /** Told of once for each session and host. */
  const clear = new Set<string>()
  const counts: Counts = { forwarded: 0, failed: 0, refused: 0, tunnelled: 0, refreshed: 0 }
  let waiting: (Ended & { id: string; tenant: string })[] = []
  let flushing = Promise.resolve()
  const timer = setInterval(() => void flush(), flushMs).unref()

  function flush(): Promise<void> {
    const ended = Map.groupBy(waiting.splice(0), ({ tenant }) => tenant)
    if (ended.size > 0) flushing = flushing.then(() => write(ended))
    return flushing
  }

  async function write(ended: Map<string, typeof waiting>): Promise<void> {
    for (const [tenant, ends] of ended) {
      try {
        await rows.end(tenant, ends)
      } catch (error) {
        // Their beginnings are kept; the ends are written with the next ones.
        log.error('ends of credential uses could not be written', { error })
        waiting = [...ends, ...waiting].slice(0, 10 * mostWaiting)
      }
    }
  }

  function note(about: About, { status, refreshed, ms }: Ended): void {
    log.info('proxied', {
      op: 'mcp_proxy.forward',
      caller: about.caller,
      tenant_id: about.tenant,
      session_id: about.session,
      server: about.server,
      host: about.host,
      method: about.method,
      status,
      refreshed,
      ms: Math.round(ms),
    })
    if (refreshed) counts.refreshed++
  }

  return {
    counts,
    begin(about, row) {
      const id = `cuse_${randomUUIDv7().replaceAll('-', '')}`
      const [vault, credential] = row ? [row.vault_id, row.id] : [null, null]
      const durable = rows.begin({ ...about, id, vault, credential, at: clock.now() })
      return {
        durable,
        end(ended) {
          waiting.push({ ...ended, id, tenant: about.tenant })
          if (waiting.length >= mostWaiting) void flush()
        },
      }
    },
    ended(about, ended, refusal) {
      if (refusal) {
        counts.refused++
        known.add(refusal)
      } else if (ended.status === 502 || ended.status === 499) counts.failed++
      else counts.forwarded++
      note(about, ended)
    },
    tunnelled(about, ended) {
      counts.tunnelled++
      note(about, ended)
    },
    leftInClear({ tenant, session }, host) {
      const place = `${session} ${host}`
      if (clear.has(place)) return false
      if (clear.size >= mostClear) clear.clear()
      clear.add(place)
      log.warn('a placeholder left over plain http as it is: credentials go over https alone', {
        ...{ tenant_id: tenant, session_id: session, host },
      })
      return true
    },
    has: (refusal) => known.has(refusal),
    flush,
    async close() {
      clearInterval(timer)
      await rows.written()
      await flush()
    },
  }
}
