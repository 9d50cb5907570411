import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { newId } from '../core/ids.ts'
import type { Database, Owners } from './database.ts'
import { migrate } from './migrate.ts'
import type { Tables } from './tables.ts'

/** 64-bit integers as numbers: counters here stay far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig

const retried = new Set(['40001', '40P01'])
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
    async write(unit) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await db.transaction().execute(unit)
        } catch (error) {
          const code = (error as { code?: string }).code ?? ''
          if (!retried.has(code) || attempt >= attempts) throw error
        }
      }
    },
    owners,
    async close() {
      await owners.close()
      await db.destroy()
    },
  }
}

const lockKey = (owner: string): string =>
  createHash('sha256').update(owner).digest().readBigInt64BE().toString()

const relockMs = 500

/** Each process holds an advisory lock as long as its connection lives: a free lock is a dead process. */
async function liveOwners(
  url: string,
  pool: pg.Pool,
): Promise<Owners & { close(): Promise<void> }> {
  const self = newId('process')
  let closed = false
  let client = await hold()

  async function hold(): Promise<pg.Client> {
    const next = new pg.Client({ connectionString: url })
    // Told by `end` and by rejected queries too.
    next.on('error', () => {})
    try {
      await next.connect()
      await next.query('select pg_advisory_lock($1)', [lockKey(self)])
    } catch (error) {
      await next.end()
      throw error
    }
    next.once('end', () => void holdAgain())
    return next
  }

  /** Meanwhile others may take the leases of this process, whose fences then hold no more. */
  async function holdAgain(): Promise<void> {
    while (!closed) {
      try {
        client = await hold()
        if (closed) await client.end()
        return
      } catch {
        // The database is away: its lock is missing to nobody until it is back.
        await new Promise((resolve) => setTimeout(resolve, relockMs).unref())
      }
    }
  }

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
    async close() {
      closed = true
      await client.end()
    },
  }
}
