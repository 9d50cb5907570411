import { createHash, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { keepConnection } from '../core/postgres-connection.ts'
import { newId } from '../core/text/ids.ts'
import type { PostgresConnector, PostgresLimits } from '../core/postgres-client.ts'
import { postgresConnector, surviveLoss, usualPostgresLimits } from '../core/postgres-client.ts'
import type { Connection, Database, Owners, Queries } from './database.ts'
import { NamedPostgresDialect } from './dialect.ts'
import { isMigrated, applyMigrations } from './migrate.ts'
import { withoutNotices } from './notices.ts'
import { postgresDriver } from './postgres-driver.ts'
import { sharedReads } from './postgres-reads.ts'
import type { RunDirectly } from './statement.ts'
import { renewNames, setDirectRun } from './statement.ts'
import type { Tables } from './tables.ts'

/** SQLSTATE of serialisation failure, deadlock and unique violation: the unit runs again and sees the other's rows. */
const retried = new Set(['40001', '40P01', '23505'])
const attempts = 5
const deadlock = '40P01'
/**
 * A unit that Postgres ended in a deadlock waits this long before it runs again. Otherwise it could take back its locks
 * before the other unit wakes up, and end in the same deadlock, up to the last attempt.
 */
const deadlockPauseMs = { least: 10, most: 50 }
/** Connections for units, and for reads that are built for one request. */
const connections = 14
/** Connections for reads that are built once. */
const readingConnections = 2

/** A schema: a part of the database with its own tables. */
export type PostgresSchema = {
  /** Reads and writes of the schema. Closing it does nothing. */
  database: Database
  isThere(): Promise<boolean>
  /** Creates the schema if it is missing and brings its tables up to date, in one transaction. */
  migrate(): Promise<void>
  drop(): Promise<void>
}

export type PostgresDatabase = Database & { schema(name: string): PostgresSchema }

/** A database on a Postgres server. Any number of processes may share it. */
export async function postgresDatabase(
  url: string,
  limits = usualPostgresLimits,
): Promise<PostgresDatabase> {
  const connecting = postgresConnector(url, limits)
  const pool = boundedPool(connecting, connections)
  const reads = sharedReads(connecting.config, readingConnections)
  const open = (isSingle: boolean, run?: RunDirectly) => {
    const dialect = new NamedPostgresDialect(postgresDriver(pool, { ...limits, isSingle }))
    if (run) setDirectRun(dialect.adapter, run)
    return new Kysely<Tables>({ dialect })
  }
  const db = open(false)
  const read = open(false, reads.run)
  const single = withoutNotices(open(true))
  const close = () =>
    connecting.close(Promise.all([db.destroy(), read.destroy(), single.destroy(), reads.close()]))
  const owners = await openOwners().catch(async (error: unknown) => {
    await close()
    throw error
  })

  async function openOwners(): Promise<ClosableOwners> {
    if (!(await isMigrated(db))) await migrateAlone(url, limits)
    return liveOwners(url, limits, db)
  }

  function schema(name: string): PostgresSchema {
    const { units, singles, reading } = schemaQueries(pool, limits, name)
    return {
      database: {
        dialect: 'postgres',
        read: reading,
        write: (unit) => again(() => transaction(units, unit)),
        writeStatement: (statement) => again(() => statement(singles)),
        owners,
        close: async () => {},
      },
      isThere: () => isSchemaThere(db, name),
      migrate: () => migrateSchema(url, limits, { name, reading }),
      drop: async () => void (await sql`drop schema if exists ${sql.id(name)} cascade`.execute(db)),
    }
  }

  return {
    schema,
    dialect: 'postgres',
    read,
    write: (unit) => again(() => transaction(db, unit)),
    writeStatement: (statement) => again(() => statement(single)),
    owners,
    async close() {
      await owners.close()
      await close()
    },
  }
}

/** Queries on the tables of one schema, over a shared pool. */
function schemaQueries(pool: pg.Pool, limits: PostgresLimits, schema: string) {
  const open = (isSingle: boolean) => {
    const dialect = new NamedPostgresDialect(postgresDriver(pool, { ...limits, isSingle, schema }))
    return { db: new Kysely<Tables>({ dialect }), adapter: dialect.adapter }
  }
  const { db: reading, adapter } = open(false)
  setDirectRun(adapter, async (query) => {
    const { rows } = await again(() => reading.executeQuery(query))
    return rows
  })
  return { units: open(false).db, singles: withoutNotices(open(true).db), reading }
}

const transaction = <T>(db: Connection, unit: (tx: Queries) => Promise<T>): Promise<T> =>
  db.transaction().execute((tx) => unit(withoutNotices(tx)))

async function isSchemaThere(db: Connection, name: string): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${name}`.execute(db)
  return rows.length > 0
}

/** Migrates one schema. A second process waits for the first and then finds nothing to do. */
async function migrateSchema(
  url: string,
  limits: PostgresLimits,
  { name, reading }: { name: string; reading: Connection },
): Promise<void> {
  if (await isMigrated(reading)) return
  await withoutLimits(url, limits, name, (db) =>
    db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`migrations of ${name}`}, 0))`.execute(
        tx,
      )
      await sql`create schema if not exists ${sql.id(name)}`.execute(tx)
      await applyMigrations(tx, `the schema ${name}`)
    }),
  )
}

/** Migrates the database without time limits. Waits while another process migrates. */
async function migrateAlone(url: string, limits: PostgresLimits): Promise<void> {
  await withoutLimits(url, limits, undefined, async (db) => {
    if (await isMigrated(db)) return
    await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('migrations', 0))`.execute(tx)
      await applyMigrations(tx, 'the database')
    })
  })
}

export type PostgresSchemaTarget = {
  url: string
  limits: PostgresLimits
  /** Undefined: the schema of the control database. */
  schema: string | undefined
}

/** One transaction without time limits over its own connection, for commands. `isReading`: reads see one moment. */
export function postgresTransaction<T>(
  { url, limits, schema }: PostgresSchemaTarget,
  { isReading }: { isReading: boolean },
  work: (db: Queries) => Promise<T>,
): Promise<T> {
  if (!isReading) return withoutLimits(url, limits, schema, (db) => transaction(db, work))
  return withoutLimits(url, limits, undefined, (db) =>
    db.connection().execute(async (connection) => {
      await sql`begin isolation level repeatable read, read only`.execute(connection)
      if (schema !== undefined)
        await sql`select set_config('search_path', ${`"${schema}"`}, true)`.execute(connection)
      try {
        return await work(withoutNotices(connection))
      } finally {
        await sql`rollback`.execute(connection)
      }
    }),
  )
}

async function withoutLimits<T>(
  url: string,
  limits: PostgresLimits,
  schema: string | undefined,
  work: (db: Connection) => Promise<T>,
): Promise<T> {
  const connecting = postgresConnector(url, limits)
  const config = { ...connecting.config, statement_timeout: 0, query_timeout: 0 }
  const unbounded = { ...connecting, config: { ...config, idle_in_transaction_session_timeout: 0 } }
  const options = { statementMs: 0, isSingle: false, schema }
  const dialect = new NamedPostgresDialect(postgresDriver(boundedPool(unbounded, 3), options))
  const db = new Kysely<Tables>({ dialect })
  try {
    return await work(db)
  } finally {
    await connecting.close(db.destroy())
  }
}

function boundedPool({ config }: PostgresConnector, max: number): pg.Pool {
  const pool = new pg.Pool({ ...config, max })
  // The pool replaces a connection that was lost while idle. The next query reports a server that is away.
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
      if (code === deadlock) await sleep(randomInt(deadlockPauseMs.least, deadlockPauseMs.most))
    }
  }
}

type ClosableOwners = Owners & { close(): Promise<void> }

const lockKey = (owner: string): string =>
  createHash('sha256').update(owner).digest().readBigInt64BE().toString()

/**
 * Each process holds an advisory lock as long as its connection lives: a free lock means a dead process. While the
 * connection is cut, other processes may take the leases of this one, until it has its lock again.
 */
async function liveOwners(
  url: string,
  limits: PostgresLimits,
  db: Connection,
): Promise<ClosableOwners> {
  const self = newId('process')
  const lock = await keepConnection(url, limits, async (client) => {
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
