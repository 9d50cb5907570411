/**
 * The databases of `npm test`: one Postgres for all files, templates that tests copy, and the folder where they lie.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { templateVariables } from '@steward/server/ground/database/fixture.ts'
import { postgresDatabase } from '@steward/server/ground/database/postgres.ts'
import { sqliteDatabase } from '@steward/server/ground/database/sqlite.ts'
import type { Postgres } from './postgres.ts'
import { startPostgres, volatileFolder } from './postgres.ts'

export type TestDatabases = Pick<Postgres, 'dropDatabases' | 'stop'> & {
  /** Environment variables for the processes of the test files. */
  env: Record<string, string>
}

const template = 'steward_template'

export async function startDatabases(): Promise<TestDatabases> {
  const postgres = await startPostgres({ isDurable: false })
  const admin = new pg.Client({ connectionString: postgres.url })
  await admin.connect()
  await admin.query(`create database ${template}`)
  await admin.end()
  const url = new URL(postgres.url)
  url.pathname = `/${template}`
  await (await postgresDatabase(url.href)).close()
  // Each commit of SQLite waits for the disk of its folder. The paths of sockets below are short.
  const folder = mkdtempSync(join(volatileFolder(), 't-'))
  // Some tests run as another user.
  chmodSync(folder, 0o755)
  const sqlite = join(folder, 'steward.db')
  await (await sqliteDatabase(sqlite)).close()
  return {
    env: {
      STEWARD_TEST_POSTGRES: postgres.socketUrl,
      TMPDIR: folder,
      ...templateVariables({ sqlite, postgres: template }),
    },
    dropDatabases: (prefix) => postgres.dropDatabases(prefix),
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
