/** Leases of single rows by key, for work that only one process at a time may do. */
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Clock } from '@steward/base/time.ts'
import type { Database } from './database.ts'
import { isFree, leaseMs } from './lease.ts'
import type { LeaseColumns } from './table.ts'
import type { KeyOf, LeasedTable } from './tables.ts'
import { tables } from './tables.ts'
import { selectRaw } from './select-raw.ts'

/** Tables whose rows name the owner of their lease. */
type OwnedTable = {
  [Name in LeasedTable]: (typeof tables)[Name]['lease'] extends { readonly owner: string }
    ? Name
    : never
}[LeasedTable]

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
export function rowLease<Table extends OwnedTable>(
  database: Database,
  table: Table,
  key: KeyOf<Table>,
): RowLease {
  const { self } = database.owners
  const lease: LeaseColumns & { owner: string } = tables[table].lease
  const { isWholeRow = false } = lease
  const [name, owner, expires] = [sql.table(table), sql.ref(lease.owner), sql.ref(lease.expires)]
  const values = Object.values(key)
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
      const statement = claimRow(now + ms, isFree(table, now, await readDead()))
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
