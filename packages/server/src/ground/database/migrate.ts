/** The tables of a database, brought up to date. */
import { serverCommand } from '@steward/base/own-command.ts'
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration'
import { StorageError } from '../core/errors.ts'
import type { Connection } from './database.ts'
import * as tables from './migrations/0001-tables.ts'
import * as webSearches from './migrations/0002-web-searches.ts'
import * as archivedKeys from './migrations/0003-archived-keys.ts'
import * as waits from './migrations/0004-waits.ts'
import * as shownFacts from './migrations/0005-shown-facts.ts'
import * as forks from './migrations/0006-forks.ts'
import * as identities from './migrations/0007-identities.ts'
import * as oauth from './migrations/0008-oauth.ts'
import * as secretReads from './migrations/0010-secret-reads.ts'
import * as rules from './migrations/0011-rules.ts'
import * as messages from './migrations/0012-messages.ts'
import * as secondWire from './migrations/0013-second-wire.ts'
import * as integrationAnswers from './migrations/0014-integration-answers.ts'
import * as ownPullRequests from './migrations/0015-own-pull-requests.ts'
import * as wakes from './migrations/0016-wakes.ts'

const first = '0001-tables'
/**
 * A name that ends in `+` only adds: a version without that migration works on the tables beside one that has it, and
 * after it. [docs/upgrades.md]
 */
export const addsOnly = (name: string): boolean => name.endsWith('+')

const migrations: Readonly<Record<string, Migration>> = {
  [first]: tables,
  '0002-web-searches': webSearches,
  '0003-archived-keys': archivedKeys,
  '0004-waits': waits,
  '0005-shown-facts': shownFacts,
  '0006-forks': forks,
  '0007-identities+': identities,
  '0008-oauth+': oauth,
  '0010-secret-reads+': secretReads,
  '0011-rules+': rules,
  '0012-messages+': messages,
  '0013-second-wire+': secondWire,
  '0014-integration-answers+': integrationAnswers,
  '0015-own-pull-requests+': ownPullRequests,
  '0016-wakes+': wakes,
}

/** Names of the migrations of this version, in order. */
export const migrationNames: readonly string[] = Object.keys(migrations)

/**
 * The migrations of versions before `0001-tables`. Together they made the same tables: a database that has recorded all
 * of them keeps these names in place of that one.
 */
export const replacedMigrations = `
  0001-schema 0002-resource-fields 0003-long-texts 0004-limits 0005-people 0006-budgets 0007-workspace-removals
  0008-audit 0009-tenant-databases 0010-quotas 0011-outcomes 0012-threads 0013-workspace-keys 0015-rosters
  0016-deployments 0017-evals 0018-idempotency-keys 0019-forks 0020-dreams 0022-deployment-triggers
  0023-integrations 0024-installations 0026-no-replays 0030-quota-changes 0032-idempotent-answers
  0033-wakeups`
  .trim()
  .split(/\s+/)

/** The last commit with the replaced migrations: its server brings every earlier database up to date. */
export const lastCommit = 'a9773fa'

/**
 * Compares the `applied` migrations of a database with those of this version. `isTooOld`: this version cannot bring it
 * up to date. `unknown`: migrations of a newer version that this one must not work with. `newer`: those of a newer
 * version that only add.
 */
export function compareMigrations(applied: readonly string[]) {
  const isEarlier = applied.length > 0 && !applied.includes(first)
  const isTooOld = isEarlier && !replacedMigrations.every((name) => applied.includes(name))
  const names = isEarlier
    ? [first, ...applied.filter((name) => !replacedMigrations.includes(name))]
    : applied
  const others = isTooOld ? [] : names.filter((name) => !migrationNames.includes(name))
  return {
    isTooOld,
    pending: isTooOld ? [] : migrationNames.filter((name) => !names.includes(name)),
    unknown: others.filter((name) => !addsOnly(name)),
    newer: others.filter(addsOnly),
  }
}

/** True when the tables are those of this version, without anything of a newer one. */
export function isCurrent(applied: readonly string[]): boolean {
  return isServed(applied) && compareMigrations(applied).newer.length === 0
}

/** True when this version works on the tables as they are. */
function isServed(applied: readonly string[]): boolean {
  const { isTooOld, pending, unknown } = compareMigrations(applied)
  return !isTooOld && pending.length === 0 && unknown.length === 0
}

/**
 * True when no migration is missing. One statement, because most processes open a database that is up to date. Throws
 * `StorageError` for a database that does not answer.
 */
export async function isMigrated(db: Connection): Promise<boolean> {
  try {
    return isServed(await appliedMigrations(db))
  } catch (error) {
    if (error instanceof StorageError) throw error
    // A new database has no such table. `applyMigrations` reports any other error.
    return false
  }
}

type MigrationTable = { [DEFAULT_MIGRATION_TABLE]: { name: string; timestamp: string } }

async function appliedMigrations(db: Connection): Promise<string[]> {
  const recorded = db
    .$extendTables<MigrationTable>()
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
  return (await recorded.execute()).map(({ name }) => name)
}

/**
 * Applies the missing migrations in order to the database or schema `label`, in the caller's transaction. The caller
 * keeps other processes from migrating it at the same time.
 */
export async function applyMigrations(tx: Connection, label: string): Promise<void> {
  await step(`${label} could not be brought up to date`, () =>
    sql`create table if not exists ${sql.table(DEFAULT_MIGRATION_TABLE)} (
      name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(tx),
  )
  const { isTooOld, pending, unknown } = compareMigrations(await appliedMigrations(tx))
  if (isTooOld)
    throw new Error(
      `${label} is of a version before commit ${lastCommit}, which this version cannot bring up to date: start the server once from that commit (where workspaces have databases of their own, run \`${serverCommand} migrate --all\` there), and then start this version`,
    )
  if (unknown.length > 0)
    throw new Error(
      `a newer version of Steward has made ${label} (migration ${unknown.join(', ')}): start that version`,
    )
  for (const name of pending) {
    await step(`${label} could not be brought up to date by ${name}`, () =>
      migrations[name]?.up(tx),
    )
    const timestamp = new Date().toISOString()
    await tx
      .$extendTables<MigrationTable>()
      .insertInto(DEFAULT_MIGRATION_TABLE)
      .values({ name, timestamp })
      .execute()
  }
}

async function step(failure: string, run: () => Promise<unknown> | undefined): Promise<void> {
  try {
    await run()
  } catch (cause) {
    if (cause instanceof StorageError) throw cause
    throw new Error(failure, { cause })
  }
}
