import { createHash } from 'node:crypto'
import type { PostgresClient, PostgresCursor, PostgresPool, PostgresQueryResult } from 'kysely'
import { Kysely, sql } from 'kysely'
import pg from 'pg'
import { keptConnection } from '../core/connection.ts'
import { StorageError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { PostgresConnector, PostgresLimits } from '../core/postgres-client.ts'
import {
  connector,
  isUnanswered,
  postgresError,
  surviveLoss,
  usualLimits,
} from '../core/postgres-client.ts'
import type { Database, Owners, Queries } from './database.ts'
import { NamedPostgresDialect } from './dialect.ts'
import { isMigrated, migrate } from './migrate.ts'
import { nameOf } from './statement.ts'
import type { Tables } from './tables.ts'

/** 64-bit integers as numbers: counters here stay far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig

/** Serialisation failure, deadlock, and a unique value that another took meanwhile: the next look sees it. */
const retried = new Set(['40001', '40P01', '23505'])
const attempts = 5
const connections = 16

/** A server of its own; any number of processes may share it. */
export async function postgresDatabase(url: string, limits = usualLimits): Promise<Database> {
  await migrateAlone(url, limits)
  const connecting = connector(url, limits)
  const pool = boundedPool(connecting, connections)
  const open = (commits: Commits) =>
    new Kysely<Tables>({ dialect: new NamedPostgresDialect({ pool: pool(commits) }) })
  const db = open((text) => text === 'commit')
  const single = open(() => true)
  const owners = await liveOwners(url, limits, db)
  return {
    dialect: 'postgres',
    read: db,
    write: (unit) => again(() => db.transaction().execute(unit)),
    once: (statement) => again(() => statement(single)),
    owners,
    async close() {
      await owners.close()
      await connecting.close(Promise.all([db.destroy(), single.destroy()]))
    },
  }
}

/** A migration takes as long as the rows of a table need, and waits for another process's. */
async function migrateAlone(url: string, limits: PostgresLimits): Promise<void> {
  const connecting = connector(url, limits)
  const config = { ...connecting.config, statement_timeout: 0, query_timeout: 0 }
  const unbounded = { ...connecting, config: { ...config, idle_in_transaction_session_timeout: 0 } }
  const db = new Kysely<Tables>({
    dialect: new NamedPostgresDialect({ pool: boundedPool(unbounded, 3)(() => false) }),
  })
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

/** Whether a statement takes effect by itself. */
type Commits = (text: string) => boolean

/** A pool that outlives the loss of any of its connections, throws away those that did not answer, and names what is away. */
function boundedPool(
  { config }: PostgresConnector,
  max: number,
): (commits: Commits) => PostgresPool {
  const pool = new pg.Pool({ ...config, max, types })
  // A connection lost while idle is replaced by the pool; the next query reports what is wrong.
  pool.on('error', () => {})
  pool.on('connect', surviveLoss)
  return (commits) => ({
    options: {},
    end: async () => {
      if (!pool.ending) await pool.end()
    },
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw postgresError(error)
      })
      return { query: boundedQuery(client, commits), release: (gone) => client.release(gone) }
    },
  })
}

function boundedQuery(client: pg.PoolClient, commits: Commits): PostgresClient['query'] {
  /** How the connection was lost: the rollback that follows a lost commit says nothing of it. */
  let lost: StorageError | undefined
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  /** Kysely asks for cursors where it was given one, which it was not. */
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    return client.query(named(text as string, values)).catch((error: unknown) => {
      if (isUnanswered(error)) void client.end()
      const known = postgresError(error, commits(text as string))
      if (!lost && known instanceof StorageError) lost = known
      throw lost ?? known
    })
  }
  return query
}

/** Postgres parses and plans a statement with a name once for each connection. */
function named(text: string, values: readonly unknown[]): pg.QueryConfig {
  const name = nameOf(text)
  return { text, values: [...values], ...(name !== undefined && { name }) }
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
