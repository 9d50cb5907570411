import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration'
import type { Queries } from './database.ts'
import * as schema from './migrations/0001-schema.ts'
import * as resourceFields from './migrations/0002-resource-fields.ts'
import * as longTexts from './migrations/0003-long-texts.ts'
import * as limits from './migrations/0004-limits.ts'
import * as people from './migrations/0005-people.ts'
import * as budgets from './migrations/0006-budgets.ts'
import * as workspaceRemovals from './migrations/0007-workspace-removals.ts'
import * as audit from './migrations/0008-audit.ts'
import * as tenantDatabases from './migrations/0009-tenant-databases.ts'
import * as quotas from './migrations/0010-quotas.ts'
import * as outcomes from './migrations/0011-outcomes.ts'
import * as threads from './migrations/0012-threads.ts'
import * as workspaceKeys from './migrations/0013-workspace-keys.ts'
import * as rosters from './migrations/0015-rosters.ts'
import * as deployments from './migrations/0016-deployments.ts'
import * as evals from './migrations/0017-evals.ts'
import * as idempotencyKeys from './migrations/0018-idempotency-keys.ts'
import * as forks from './migrations/0019-forks.ts'
import * as dreams from './migrations/0020-dreams.ts'
import * as deploymentTriggers from './migrations/0022-deployment-triggers.ts'
import * as integrations from './migrations/0023-integrations.ts'
import * as installations from './migrations/0024-installations.ts'
import * as noReplays from './migrations/0026-no-replays.ts'
import * as quotaChanges from './migrations/0030-quota-changes.ts'
import * as idempotentAnswers from './migrations/0032-idempotent-answers.ts'
import * as wakeups from './migrations/0033-wakeups.ts'

const first = '0001-schema'
const migrations: Record<string, Migration> = {
  [first]: schema,
  '0002-resource-fields': resourceFields,
  '0003-long-texts': longTexts,
  '0004-limits': limits,
  '0005-people': people,
  '0006-budgets': budgets,
  '0007-workspace-removals': workspaceRemovals,
  '0008-audit': audit,
  '0009-tenant-databases': tenantDatabases,
  '0010-quotas': quotas,
  '0011-outcomes': outcomes,
  '0012-threads': threads,
  '0013-workspace-keys': workspaceKeys,
  '0015-rosters': rosters,
  '0016-deployments': deployments,
  '0017-evals': evals,
  '0018-idempotency-keys': idempotencyKeys,
  '0019-forks': forks,
  '0020-dreams': dreams,
  '0022-deployment-triggers': deploymentTriggers,
  '0023-integrations': integrations,
  '0024-installations': installations,
  '0026-no-replays': noReplays,
  '0030-quota-changes': quotaChanges,
  '0032-idempotent-answers': idempotentAnswers,
  '0033-wakeups': wakeups,
}

/** True when no migration is missing. One statement, because most processes open a database that is up to date. */
export async function isMigrated(db: Queries): Promise<boolean> {
  try {
    const recorded = db
      .$extendTables<MigrationTable>()
      .selectFrom(DEFAULT_MIGRATION_TABLE)
      .select('name')
    const names = new Set((await recorded.execute()).map(({ name }) => name))
    const known = Object.keys(migrations)
    return names.size === known.length && known.every((name) => names.has(name))
  } catch {
    // A new database has no such table. `migrate` reports any other error.
    return false
  }
}

/** For a database with the `applied` migrations: those that are pending, and those that this version does not know. */
export function pendingMigrations(applied: readonly string[]) {
  const known = Object.keys(migrations)
  const done = applied.some((name) => replacedMigrations.includes(name)) ? [first] : []
  const names = new Set([...applied, ...done])
  return {
    pending: known.filter((name) => !names.has(name)),
    unknown: applied.filter((name) => !known.includes(name) && !replacedMigrations.includes(name)),
  }
}

/** Applies the missing migrations in order. The caller keeps other processes from migrating at the same time. */
export async function migrate(db: Queries): Promise<void> {
  await joinMigrations(db)
  await refuseNewer(db)
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    // Branches of development merge in another order than that of their numbers.
    allowUnorderedMigrations: true,
  })
  const { error } = await migrator.migrateToLatest()
  if (error) throw new Error('the database could not be brought up to date', { cause: error })
}

/** The names of the applied migrations of a database. Empty for a new database. */
export async function appliedMigrations(db: Queries): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const recorded = db
    .$extendTables<MigrationTable>()
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
  return (await recorded.execute()).map(({ name }) => name)
}

/** Applies the missing migrations to one schema, in the caller's transaction. The caller excludes other processes. */
export async function migrateIn(tx: Queries, schema: string): Promise<void> {
  const recorded = tx.$extendTables<MigrationTable>()
  await sql`create table if not exists ${sql.table(DEFAULT_MIGRATION_TABLE)} (
    name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(tx)
  const rows = await recorded.selectFrom(DEFAULT_MIGRATION_TABLE).select('name').execute()
  const { pending, unknown } = pendingMigrations(rows.map(({ name }) => name))
  checkKnown(unknown)
  for (const name of pending) {
    try {
      await migrations[name]?.up(tx)
    } catch (cause) {
      throw new Error(`${schema} could not be brought up to date by ${name}`, { cause })
    }
    await recorded
      .insertInto(DEFAULT_MIGRATION_TABLE)
      .values({ name, timestamp: new Date().toISOString() })
      .execute()
  }
}

async function refuseNewer(db: Queries): Promise<void> {
  checkKnown(pendingMigrations(await appliedMigrations(db)).unknown)
}

function checkKnown(unknown: readonly string[]): void {
  if (unknown.length > 0)
    throw new Error(
      `a newer version of Steward has made this database (migration ${unknown.join(', ')}): start that version`,
    )
}

/** Names of the migrations of this version, in order. */
export const migrationNames: readonly string[] = Object.keys(migrations)

/** The migrations that `0001-schema` replaces. Together they made the same tables. */
export const replacedMigrations =
  `0001-initial 0002-vaults 0004-files 0005-memory-stores 0006-skills 0007-repositories
  0008-attached-memory 0009-packages 0010-checkpoints 0011-outputs 0013-work 0014-webhooks 0015-work-indexes
  0016-stdio-servers 0018-work-left 0021-fair-turns 0022-deleted-sessions 0023-url-servers 0024-card-changes
  0026-resolved-paths 0027-work-claims 0028-environment-names 0034-recoveries 0035-inbox-bytes`.split(
    /\s+/,
  )

/** The last commit with the replaced migrations. */
const lastCommit = '0547764'

type MigrationTable = { [DEFAULT_MIGRATION_TABLE]: { name: string; timestamp: string } }

/** Records all replaced migrations of a database as `0001-schema`. Refuses a database that has only some of them. */
async function joinMigrations(db: Queries): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return
  await db.transaction().execute(async (tx) => {
    const recorded = tx.$extendTables<MigrationTable>()
    const rows = await recorded.selectFrom(DEFAULT_MIGRATION_TABLE).select('name').execute()
    const names = rows.map(({ name }) => name)
    const done = replacedMigrations.filter((name) => names.includes(name))
    if (done.length === 0) return
    if (done.length < replacedMigrations.length)
      throw new Error(
        `this database has ${done.length} of the ${replacedMigrations.length} migrations of earlier versions, and this version knows only all of them: start the server once from commit ${lastCommit}, then from this one`,
      )
    await recorded
      .deleteFrom(DEFAULT_MIGRATION_TABLE)
      .where('name', 'in', replacedMigrations)
      .execute()
    await recorded
      .insertInto(DEFAULT_MIGRATION_TABLE)
      .values({ name: first, timestamp: new Date().toISOString() })
      .execute()
  })
}
