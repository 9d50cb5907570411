/**
 * Sends the lines of all audit chains to one receiver: in the order of each chain, and at least once. A position is
 * kept after the receiver has taken a batch, so that a process that dies sends the batch again. [audit/stream]
 */
import { collectFailure, throwFailures } from '../../../ground/core/failures.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Database } from '../../../ground/database/database.ts'
import { leaseMs } from '../../../ground/database/lease.ts'
import { keepLease, rowLease } from '../../../ground/database/row-lease.ts'
import type { Ground } from '../../../ground/ground.ts'
import { exportedLine } from '../lines.ts'
import { trailStore } from '../trails/store.ts'
import type { UnsentChain } from './store.ts'
import { auditStreamStore } from './store.ts'

/** A line of a chain. `text`: JSON with the hash of the line and of the line before it. */
export type StreamedLine = { text: string; id: string; trail: string; createdAt: string }

export type TakenBatch = { ok: true } | { ok: false; reason: string }

export interface AuditReceiver {
  /** Resolves once the receiver has taken all lines. Never rejects. */
  send(lines: readonly StreamedLine[], signal: AbortSignal): Promise<TakenBatch>
  close(): Promise<void>
}

const everyMs = 2_000
const linesAtOnce = 500
const tellEveryMs = 60_000

type AuditStreamDeps = Ground & { receiver: AuditReceiver }

export function auditStreamJob(deps: AuditStreamDeps): Job {
  const { databases, clock, log } = deps
  const walk = databases.walk(everyMs)
  let tellMs = 0

  function tell(reason: string, { seq, sent }: UnsentChain): void {
    if (clock.now() < tellMs) return
    tellMs = clock.now() + tellEveryMs
    log.warn('the audit could not be sent', { reason, unsent_lines: seq - sent })
  }

  /** False once the receiver has refused, because it would refuse the next chain too. */
  async function sendOf(database: Database, signal: AbortSignal): Promise<boolean> {
    for (const chain of await auditStreamStore(database.read).unsent()) {
      if (signal.aborted) return false
      const refusal = await sendChain(database, chain, deps, signal)
      if (refusal === undefined) continue
      tell(refusal, chain)
      return false
    }
    return true
  }

  return {
    name: 'send the audit',
    everyMs,
    async run(signal) {
      const failures: unknown[] = []
      let isTaking = true
      const send = (database: Database) =>
        collectFailure(failures, async () => {
          isTaking = isTaking && (await sendOf(database, signal))
        })
      if (!databases.isShared) await send(databases.control)
      for await (const database of walk()) await send(database)
      throwFailures(failures)
    },
  }
}

/** Resolves with the reason of a refusal. */
async function sendChain(
  database: Database,
  chain: UnsentChain,
  deps: AuditStreamDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { tenant_id: tenant, trail } = chain
  const { clock } = deps
  await database.write((tx) => auditStreamStore(tx).create(tenant, trail))
  const lease = rowLease(database, 'audit_streams', { tenant_id: tenant, trail })
  if (!(await lease.claim(clock.now(), leaseMs))) return undefined
  const stopKeeping = keepLease(lease, clock, (error) =>
    deps.log.warn('the lease of the stream of the audit was lost', { error }),
  )
  try {
    // Another process may have sent lines since the chain was listed.
    let sent = await auditStreamStore(database.read).position(tenant, trail)
    noteGap(chain, sent, deps)
    for (;;) {
      const batch = await readBatch(database, chain, sent)
      const last = batch.at(-1)
      if (!last || signal.aborted) return undefined
      const taken = await deps.receiver.send(batch, signal)
      if (!taken.ok) return taken.reason
      const { self: owner } = database.owners
      const isMine = await database.write((tx) =>
        auditStreamStore(tx).advance(tenant, trail, { seq: last.seq, owner }),
      )
      if (!isMine) return undefined
      sent = last.seq
    }
  } finally {
    stopKeeping()
    await lease.release()
  }
}

/** Tells of lines that were removed before they were sent. */
function noteGap(
  { tenant_id, trail, first_seq }: UnsentChain,
  sent: number,
  { log }: AuditStreamDeps,
) {
  if (sent === 0 || first_seq <= sent + 1) return
  const lines = first_seq - sent - 1
  log.error('lines of the audit were removed before they were sent', {
    workspace_id: tenant_id,
    trail,
    lines,
  })
}

async function readBatch(
  { read }: Database,
  { tenant_id: tenant, trail }: UnsentChain,
  sent: number,
): Promise<(StreamedLine & { seq: number })[]> {
  const store = trailStore(read)
  const head = await store.head(tenant, trail)
  const rows = await store.exported(tenant, trail, { after: { seq: sent }, limit: linesAtOnce })
  return rows.map((row) => ({
    text: exportedLine(trail, tenant, row, head),
    id: row.id,
    trail,
    createdAt: row.created_at,
    seq: Number(row.seq),
  }))
}
