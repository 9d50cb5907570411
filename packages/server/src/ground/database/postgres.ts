import { createHash } from 'node:crypto'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { keptConnection } from '../core/connection.ts'
import { newId } from '../core/ids.ts'
import type { PostgresConnector, PostgresLimits } from '../core/postgres-client.ts'
import { connector, surviveLoss, usualLimits } from '../core/postgres-client.ts'
import type { Database, Owners, Queries } from './database.ts'
import { NamedPostgresDialect } from './dialect.ts'
import { isMigrated, migrate } from './migrate.ts'
import { postgresDriver } from './postgres-driver.ts'
import { sharedReads } from './postgres-reads.ts'
import type { RunDirectly } from './statement.ts'
import { renewNames, runDirectly } from './statement.ts'
import type { Tables } from './tables.ts'

/** Serialisation failure, deadlock, and a unique value that another took meanwhile: the next look sees it. */
const retried = new Set(['40001', '40P01', '23505'])
const attempts = 5
/** Of units, and of reads that are built for one request. */
const connections = 14
/** Of reads that are built once. */
const readingConnections = 2

/** A server of its own; any number of processes may share it. */
export async function postgresDatabase(url: string, limits = usualLimits): Promise<Database> {
  await migrateAlone(url, limits)
  const connecting = connector(url, limits)
  const pool = boundedPool(connecting, connections)
  const reads = sharedReads(connecting.config, readingConnections)
  const open = (isSingle: boolean, run?: RunDirectly) => {
    const dialect = new NamedPostgresDialect(postgresDriver(pool, { ...limits, isSingle }))
    if (run) runDirectly(dialect.adapter, run)
    return new Kysely<Tables>({ dialect })
  }
  const db = open(false)
  const read = open(false, reads.run)
  const single = open(true)
  const owners = await liveOwners(url, limits, db)
  return {
    dialect: 'postgres',
    read,
    write: (unit) => again(() => db.transaction().execute(unit)),
    once: (statement) => again(() => statement(single)),
    owners,
    async close() {
      await owners.close()
      await connecting.close(
        Promise.all([db.destroy(), read.destroy(), single.destroy(), reads.close()]),
      )
    },
  }
}

/** A migration takes as long as the rows of a table need, and waits for another process's. */
async function migrateAlone(url: string, limits: PostgresLimits): Promise<void> {
  const connecting = connector(url, limits)
  const config = { ...connecting.config, statement_timeout: 0, query_timeout: 0 }
  const unbounded = { ...connecting, config: { ...config, idle_in_transaction_session_timeout: 0 } }
  const options = { statementMs: 0, isSingle: false }
  const dialect = new NamedPostgresDialect(postgresDriver(boundedPool(unbounded, 3), options))
  const db = new Kysely<Tables>({ dialect })
  try {
    if (await isMigrated(db)) return
    await db.connection().execute(async (connection) => {
      // Held until the connection ends. Who migrates looks at all tables first, and fails where another changes one meanwhile.
      await sql`select pg_advisory_lock(hashtextextended('migrations', 0))`.execute(connection)
      await migrate(db)
    })
  } finally {
    await connecting.close(db.destroy())
  }
}

function boundedPool({ config }: PostgresConnector, max: number): pg.Pool {
  const pool = new pg.Pool({ ...config, max })
  // A connection lost while idle is replaced by the pool; the next query reports what is wrong.
  pool.on('error', () => {})
  pool.on('connect', surviveLoss)
  return pool
}

async function again<T>(unit: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await unit()
    } catch (error) {
      const code = (error as { code?: string }).code ?? ''
      if (attempt >= attempts || !(retried.has(code) || renewNames(error))) throw error
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
  limits: PostgresLimits,
  db: Queries,
): Promise<Owners & { close(): Promise<void> }> {
  const self = newId('process')
  const lock = await keptConnection(url, limits, async (client) => {
    const { rows } = await client.query<{ held: boolean }>(
      'select pg_try_advisory_lock($1) as held',
      [lockKey(self)],
    )
    if (!rows[0]?.held) throw new Error('the connection before this one still holds the lock')
  })
  return {
    self,
    async dead(owners) {
      const asked = owners.filter((owner) => owner !== self)
      if (asked.length === 0) return []
      const { rows } = await sql<{ key: string; held: boolean }>`
        select key, exists (
           select from pg_locks where locktype = 'advisory' and granted and objsubid = 1
             and database = (select oid from pg_database where datname = current_database())
             and ((classid::bigint << 32) | objid::bigint) = key::bigint) as held
         from unnest(${asked.map(lockKey)}::text[]) as key`.execute(db)
      const held = new Set(rows.filter((row) => row.held).map((row) => row.key))
      return asked.filter((owner) => !held.has(lockKey(owner)))
    },
    close: () => lock.close(),
  }
}
