/** Runs once around all tests: one Postgres for every file. */
import type { Postgres } from './postgres.ts'
import { startPostgres } from './postgres.ts'

let postgres: Postgres | undefined

export async function globalSetup(): Promise<void> {
  postgres = await startPostgres()
  process.env['STEWARD_TEST_POSTGRES'] = postgres.url
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop()
}
