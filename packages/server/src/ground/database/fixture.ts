/** For tests: a fresh database of each kind. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runOnce } from '@steward/base/shared-runs.ts'
import pg from 'pg'
import type { Bus } from '../bus/bus.ts'
import { publishNotice } from '../bus/publish-notice.ts'
import { memoryBus } from '../bus/memory.ts'
import type { Notice } from '../core/notice.ts'
import type { Database } from './database.ts'
import { withNotices } from './notices.ts'
import { startPostgres } from './postgres-fixture.ts'
import { postgresDatabase } from './postgres.ts'
import { sqliteDatabase } from './sqlite.ts'

/** True in `npm run test:long`, and in `npm test` for files that are named. */
export const isLongRun = process.env['STEWARD_TEST_LONG'] === '1'

const dialects = ['sqlite', 'postgres'] as const

/**
 * The databases of a test file above the stores: both in a long run, else one. A file always gets the same one, and
 * half of the files run on each.
 */
export function dialectsOf(file: string): readonly Database['dialect'][] {
  if (isLongRun) return dialects
  const [byte = 0] = createHash('sha256').update(basename(file)).digest()
  return [byte % 2 === 0 ? 'sqlite' : 'postgres']
}

/**
 * Databases with all tables and no rows, which `npm test` creates once: a copy takes a tenth of the time of the
 * migrations. `sqlite`: a path. `postgres`: the name of a database.
 */
export type Templates = { sqlite: string; postgres: string }

/** The environment variables that pass the templates to the processes of `npm test`. */
export const templateVariables = ({ sqlite, postgres }: Templates) => ({
  STEWARD_TEST_SQLITE_TEMPLATE: sqlite,
  STEWARD_TEST_POSTGRES_TEMPLATE: postgres,
})

const templates: Partial<Templates> = {
  sqlite: process.env['STEWARD_TEST_SQLITE_TEMPLATE'],
  postgres: process.env['STEWARD_TEST_POSTGRES_TEMPLATE'],
}

/** The URL of a new database on the Postgres of `npm test`, or else of this process. */
export const newPostgresUrl = (): Promise<string> => createdUrl(templates.postgres)

/** The URL of a new database without tables, for tests of migrations. */
export const emptyPostgresUrl = (): Promise<string> => createdUrl('template1')

const own = runOnce(() => startPostgres({ isDurable: false }))

/** The URL of the Postgres that `npm test` starts. `node --test FILE` has none, so this process starts its own. */
export async function postgresServer(): Promise<string> {
  const given = process.env['STEWARD_TEST_POSTGRES']
  if (given) return given
  return (await own()).socketUrl
}

/** The types of the library lack two of its methods. */
type Client = pg.Client & { ref(): void; unref(): void }

/** The connection that creates all databases of this process. */
const admin = runOnce(async () => {
  const client = new pg.Client({ connectionString: await postgresServer() }) as Client
  client.on('error', admin.forget)
  await client.connect()
  return client
})

async function createdUrl(template = 'template1'): Promise<string> {
  const server = await postgresServer()
  // The name holds the process id: `npm test` drops the databases of processes that have ended.
  const name = `test_${process.pid}_${randomUUID().replaceAll('-', '')}`
  const client = await admin()
  // The connection stays open, and must not keep the process of the tests from its end.
  client.ref()
  await client.query(`create database ${name} template ${template} strategy file_copy`)
  client.unref()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Puts a database with all tables into a data folder: a copy of the template, if `npm test` made one. Returns its path. */
export async function createSqliteFile(folder: string): Promise<string> {
  const path = join(folder, 'steward.db')
  if (templates.sqlite) await copyFile(templates.sqlite, path)
  else await (await sqliteDatabase(path)).close()
  return path
}

/** Closed and removed by `await using`. `bus`: carries the notices of the database's units. */
export type TestDatabase = AsyncDisposable & {
  database: Database
  bus: ReturnType<typeof memoryBus>
}

/** The database with its notices on `bus`. */
export const withNoticesOn = (database: Database, bus: Bus): Database =>
  withNotices(database, {
    publish: (notice) => publishNotice(bus, notice),
    log: { error: assert.fail },
  })

/** The database, and the notices that its units have published. They go nowhere else. */
export function withHeardNotices(database: Database): { database: Database; heard: Notice[] } {
  const heard: Notice[] = []
  const log = { error: assert.fail }
  return {
    database: withNotices(database, { publish: (each) => void heard.push(each), log }),
    heard,
  }
}

/** The database without its notices, as if all were lost. */
export const withLostNotices = (database: Database): Database => withHeardNotices(database).database

/** A database with a bus of its own. */
export function withBus(database: Database): Pick<TestDatabase, 'database' | 'bus'> {
  const bus = memoryBus()
  return { database: withNoticesOn(database, bus), bus }
}

/** One opener for each kind of database. */
export const databases: Record<Database['dialect'], () => Promise<TestDatabase>> = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    const database = await sqliteDatabase(await createSqliteFile(folder))
    return {
      ...withBus(database),
      async [Symbol.asyncDispose]() {
        await database.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
  async postgres() {
    const database = await postgresDatabase(await newPostgresUrl())
    return { ...withBus(database), [Symbol.asyncDispose]: () => database.close() }
  },
}
