/** Records each call: a log line, counts, and an audit row for each use of a credential. */
import { randomUUIDv7 } from 'node:crypto'
import type { GateRefusal } from '@steward/gate/outbound.ts'
import type { Log } from '@steward/base/log.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { OutboundCaller } from '../policy/rules.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import type { SessionRef } from '../../../ground/core/refs.ts'

const flushMs = 1_000
const mostWaiting = 500
const mostClear = 10_000

export type CallSubject = {
  tenant: string
  session: string
  caller: OutboundCaller
  server: string
  host: string
  method: string
}
/** `ms`: from the request to the head of the answer. */
export type CallEnd = { status: number; refreshed: boolean; ms: number }

export type CredentialUse = {
  /** Resolves when the row of the use is on disk. No answer is passed on before that. */
  durable: Promise<void>
  end(ended: CallEnd): void
}

/** The audit rows. Vault and credential are null for an inline token. */
export interface UseRows {
  /** Writes the row while the call goes out. Resolves when the row is durable. */
  begin(
    use: CallSubject & { id: string; vault: string | null; credential: string | null; at: number },
  ): Promise<void>
  end(tenant: string, ended: readonly (CallEnd & { id: string })[]): Promise<void>
  /** Resolves when the rows of all uses that have begun are written. */
  written(): Promise<void>
}

export type Records = ReturnType<typeof createCallRecords>

export const flushJob = ({ flush }: Records): Job => ({
  name: 'note ends of credential uses',
  everyMs: flushMs,
  run: flush,
})

export function createCallRecords(deps: { rows: UseRows; log: Log; clock: Clock }) {
  const { rows, log, clock } = deps
  const known = new WeakSet<GateRefusal>()
  /** Session and host of placeholders that left over plain http and were reported. */
  const clear = new Set<string>()
  /** `failed`: calls without an answer. */
  const counts = { forwarded: 0, failed: 0, refused: 0, tunnelled: 0, refreshed: 0 }
  let waiting: (CallEnd & { id: string; tenant: string })[] = []
  let flushing = Promise.resolve()

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
        // The rows of the starts are stored; these ends are written with the next ends.
        log.error('ends of credential uses could not be written', { error })
        waiting = [...ends, ...waiting].slice(0, 10 * mostWaiting)
      }
    }
  }

  function note(about: CallSubject, { status, refreshed, ms }: CallEnd): void {
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
    /** Starts the use of a credential. Null: an inline token of an MCP server. */
    begin(about: CallSubject, row: CredentialRow | null): CredentialUse {
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
    /** Writes the log line of a call that was answered, failed or was refused. */
    ended(about: CallSubject, ended: CallEnd, refusal?: GateRefusal): void {
      if (refusal) {
        counts.refused++
        known.add(refusal)
      } else if (ended.status === 502 || ended.status === 499) counts.failed++
      else counts.forwarded++
      note(about, ended)
    },
    tunnelled(about: CallSubject, ended: CallEnd): void {
      counts.tunnelled++
      note(about, ended)
    },
    /**
     * Reports that a placeholder left over plain http to this host. Returns true the first time for this session and
     * host.
     */
    leftInClear({ tenant, session }: SessionRef, host: string): boolean {
      const key = `${session} ${host}`
      if (clear.has(key)) return false
      if (clear.size >= mostClear) clear.clear()
      clear.add(key)
      log.warn('a placeholder left over plain http as it is: credentials go over https alone', {
        tenant_id: tenant,
        session_id: session,
        host,
      })
      return true
    },
    /** True when this refusal was recorded. */
    has: (refusal: GateRefusal): boolean => known.has(refusal),
    /** Writes the waiting ends of uses. */
    flush,
    async close(): Promise<void> {
      await rows.written()
      await flush()
    },
  }
}
