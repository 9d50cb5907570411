/** For tests: a fresh database of each kind. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Database } from './database.ts'
import { postgresDatabase } from './postgres.ts'
import { sqliteDatabase } from './sqlite.ts'

/** Whether everything runs: in `npm run test:long`, and in `npm test` for files that are named. */
export const isLongRun = process.env['STEWARD_TEST_LONG'] === '1'

/** The URL of a new, empty database on the Postgres that `npm test` starts. */
export async function newPostgresUrl(): Promise<string> {
  const server = process.env['STEWARD_TEST_POSTGRES']
  if (!server)
    throw new Error(
      'there is no Postgres for this test: run it with `npm test [-- <part of a path>]`',
    )
  // By the process: `npm test` drops them when the file has ended.
  const name = `test_${process.pid}_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`create database ${name} strategy file_copy`)
  await client.end()
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Closed and removed by `await using`. */
export type TestDatabase = AsyncDisposable & { database: Database }

/** One opener for each kind of database. */
export const databases: Record<Database['dialect'], () => Promise<TestDatabase>> = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    const database = await sqliteDatabase(join(folder, 'steward.db'))
    return {
      database,
      async [Symbol.asyncDispose]() {
        await database.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  },
  async postgres() {
    const database = await postgresDatabase(await newPostgresUrl())
    return { database, [Symbol.asyncDispose]: () => database.close() }
  },
}
