/** Leases of single rows by key, for work that only one process at a time may do. */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Clock } from '@steward/base/time.ts'
import type { Database } from './database.ts'
import { isFreeBy, leaseMs, leaseRefs } from './lease.ts'
import { selectRaw } from './select-raw.ts'

/** `isWholeRow`: the row is only the lease, so that a claim inserts the row and a release deletes it. */
const leaseColumns = {
  eval_runs: { owner: 'owner', expires: 'expires_at', isWholeRow: false },
  installations: { owner: 'token_owner', expires: 'token_until_ms', isWholeRow: false },
  integration_threads: { owner: 'owner', expires: 'expires_at', isWholeRow: false },
  package_builds: { owner: 'owner', expires: 'expires_at', isWholeRow: true },
  vault_credentials: { owner: 'refresh_owner', expires: 'refresh_until_ms', isWholeRow: false },
  workspace_removals: { owner: 'owner', expires: 'expires_at', isWholeRow: false },
} as const

type LeaseKeys = {
  eval_runs: { tenant_id: string; id: string }
  installations: { tenant_id: string; id: string }
  integration_threads: { tenant_id: string; id: string }
  package_builds: { tenant_id: string; layer: string }
  vault_credentials: { tenant_id: string; id: string }
  workspace_removals: { tenant_id: string }
}

export type RowLease = {
  /** True when this process holds the lease now, until `now + ms`. False while another living process holds it. */
  claim(now: number, ms: number): Promise<boolean>
  /** False, and without effect, when the lease was lost. */
  prolong(now: number, ms: number): Promise<boolean>
  release(): Promise<void>
}

class LeaseLostError extends Error {
  constructor() {
    super('another process has taken the lease')
  }
}

/** Prolongs a lease that this process holds, until the returned function is called. `failed`: the lease may be lost. */
export function keepLease(
  held: Pick<RowLease, 'prolong'>,
  clock: Clock,
  failed: (error: unknown) => void,
): () => void {
  const ended = new AbortController()
  const prolong = async (): Promise<void> => {
    const isHeld = await held.prolong(clock.now(), leaseMs)
    if (!isHeld && !ended.signal.aborted) throw new LeaseLostError()
  }
  async function prolongUntilEnded(): Promise<void> {
    for (;;) {
      await clock.sleep(leaseMs / 3, ended.signal)
      if (ended.signal.aborted) return
      // Not awaited: a connection that does not answer must not delay the next attempt, which another may serve.
      void prolong().catch(failed)
    }
  }
  void prolongUntilEnded()
  return () => ended.abort()
}

/** A lease of this process on the row of the key. */
export function rowLease<Table extends keyof LeaseKeys>(
  database: Database,
  table: Table,
  key: LeaseKeys[Table],
): RowLease {
  const { self } = database.owners
  const refs = leaseRefs(table, leaseColumns[table])
  const { isWholeRow } = leaseColumns[table]
  const [name, owner, expires] = [
    sql.table(table),
    sql.ref(leaseColumns[table].owner),
    sql.ref(leaseColumns[table].expires),
  ]
  const values = Object.values<string>(key)
  const names = Object.keys(key).map((column) => sql.ref(column))
  const isKey = sql.join(
    names.map((column, i) => sql`${column} = ${values[i]}`),
    sql` and `,
  )
  const isMine = sql`${isKey} and ${owner} = ${self}`

  /** The owner of the row, if it is dead. */
  async function readDead(): Promise<readonly string[]> {
    const query = sql<{
      owner: string | null
    }>`select ${owner} as owner from ${name} where ${isKey}`
    const rows = await selectRaw(database.read, query)
    return database.owners.dead(rows.flatMap((row) => row.owner ?? []))
  }

  const claimRow = (untilMs: number, free: RawBuilder<boolean>) =>
    isWholeRow
      ? sql`insert into ${name} (${sql.join(names)}, ${owner}, ${expires})
          values (${sql.join(values)}, ${self}, ${untilMs})
          on conflict (${sql.join(names)}) do update
            set ${owner} = ${self}, ${expires} = ${untilMs} where ${free}
          returning ${owner}`
      : sql`update ${name} set ${owner} = ${self}, ${expires} = ${untilMs}
          where ${isKey} and ${free} returning ${owner}`

  return {
    async claim(now, ms) {
      const statement = claimRow(now + ms, isFreeBy(refs, now, await readDead()))
      const { rows } = await database.writeStatement((db) => statement.execute(db))
      return rows.length === 1
    },
    async prolong(now, ms) {
      const statement = sql`update ${name} set ${expires} = ${now + ms} where ${isMine} returning ${owner}`
      const { rows } = await database.writeStatement((db) => statement.execute(db))
      return rows.length === 1
    },
    async release() {
      const statement = isWholeRow
        ? sql`delete from ${name} where ${isMine}`
        : sql`update ${name} set ${owner} = null, ${expires} = 0 where ${isMine}`
      await database.writeStatement((db) => statement.execute(db))
    },
  }
}
