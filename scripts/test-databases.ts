/** The databases of `npm test`: one Postgres for all files, and templates that tests copy. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { templateVariables } from '@steward/server/ground/database/fixture.ts'
import { postgresDatabase } from '@steward/server/ground/database/postgres.ts'
import { sqliteDatabase } from '@steward/server/ground/database/sqlite.ts'
import type { Postgres } from './postgres.ts'
import { startPostgres } from './postgres.ts'

export type TestDatabases = Pick<Postgres, 'dropDatabases' | 'stop'> & {
  /** For the processes of the test files. */
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
  const folder = mkdtempSync(join(tmpdir(), 'steward-template-'))
  const sqlite = join(folder, 'steward.db')
  await (await sqliteDatabase(sqlite)).close()
  return {
    env: {
      STEWARD_TEST_POSTGRES: postgres.url,
      ...templateVariables({ sqlite, postgres: template }),
    },
    dropDatabases: (prefix) => postgres.dropDatabases(prefix),
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
