import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { keptConnection } from '../core/connection.ts'
import { newId } from '../core/ids.ts'
import type { Database, Owners } from './database.ts'
import { migrate } from './migrate.ts'
import type { Tables } from './tables.ts'

/** 64-bit integers as numbers: counters here stay far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig

/** Serialisation failure, deadlock, and a unique value that another took meanwhile: the next look sees it. */
const retried = new Set(['40001', '40P01', '23505'])
const attempts = 5

/** A server of its own; any number of processes may share it. */
export async function postgresDatabase(url: string): Promise<Database> {
  const pool = new pg.Pool({ connectionString: url, max: 16, types })
  // A connection lost while idle is replaced by the pool; the next query reports what is wrong.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  await migrate(db)
  const owners = await liveOwners(url, pool)
  return {
    dialect: 'postgres',
    read: db,
    write: (unit) => again(() => db.transaction().execute(unit)),
    once: (statement) => again(() => statement(db)),
    owners,
    async close() {
      await owners.close()
      await db.destroy()
    },
  }
}

async function again<T>(unit: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await unit()
    } catch (error) {
      const code = (error as { code?: string }).code ?? ''
      if (!retried.has(code) || attempt >= attempts) throw error
    }
  }
}

const lockKey = (owner: string): string =>
  createHash('sha256').update(owner).digest().readBigInt64BE().toString()

/**
 * Each process holds an advisory lock as long as its connection lives: a free lock is a dead process. Where the
 * connection is cut, others may take the leases of this process until it has its lock again.
 */
async function liveOwners(
  url: string,
  pool: pg.Pool,
): Promise<Owners & { close(): Promise<void> }> {
  const self = newId('process')
  const lock = await keptConnection(url, async (client) => {
    await client.query('select pg_advisory_lock($1)', [lockKey(self)])
  })
  return {
    self,
    async dead(owners) {
      const asked = owners.filter((owner) => owner !== self)
      if (asked.length === 0) return []
      const { rows } = await pool.query<{ key: string; held: boolean }>(
        `select key, exists (
           select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
             and database = (select oid from pg_database where datname = current_database())
             and ((classid::bigint << 32) | objid::bigint) = key::bigint) as held
         from unnest($1::text[]) as key`,
        [asked.map(lockKey)],
      )
      const held = new Set(rows.filter((row) => row.held).map((row) => row.key))
      return asked.filter((owner) => !held.has(lockKey(owner)))
    },
    close: () => lock.close(),
  }
}
