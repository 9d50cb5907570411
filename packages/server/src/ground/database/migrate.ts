import type { Migration } from 'kysely/migration'
import { DEFAULT_MIGRATION_TABLE, Migrator } from 'kysely/migration'
import type { Queries } from './database.ts'
import * as schema from './migrations/0001-schema.ts'
import * as resourceFields from './migrations/0002-resource-fields.ts'
import * as longTexts from './migrations/0003-long-texts.ts'
import * as limits from './migrations/0004-limits.ts'
import * as people from './migrations/0005-people.ts'
import * as budgets from './migrations/0006-budgets.ts'

const first = '0001-schema'
const migrations: Record<string, Migration> = {
  [first]: schema,
  '0002-resource-fields': resourceFields,
  '0003-long-texts': longTexts,
  '0004-limits': limits,
  '0005-people': people,
  '0006-budgets': budgets,
}

/** Whether there is nothing to migrate, by one statement: most processes open a database that another has brought up to date. */
export async function isMigrated(db: Queries): Promise<boolean> {
  try {
    const recorded = db.$extendTables<Recorded>().selectFrom(DEFAULT_MIGRATION_TABLE).select('name')
    const names = new Set((await recorded.execute()).map(({ name }) => name))
    const known = Object.keys(migrations)
    return names.size === known.length && known.every((name) => names.has(name))
  } catch {
    // A new database has no such table. Whatever else is wrong, `migrate` says.
    return false
  }
}

/** Of a database with these migrations: those that this version adds, and those that it does not know. */
export function pendingMigrations(applied: readonly string[]) {
  const known = Object.keys(migrations)
  const done = applied.some((name) => replaced.includes(name)) ? [first] : []
  const names = new Set([...applied, ...done])
  return {
    pending: known.filter((name) => !names.has(name)),
    unknown: applied.filter((name) => !known.includes(name) && !replaced.includes(name)),
  }
}

/** Applies what is missing, in order, once. The caller sees to it that no other process does so at the same time. */
export async function migrate(db: Queries): Promise<void> {
  await joinMigrations(db)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw new Error('the database could not be brought up to date', { cause: error })
}

/** The migrations that `0001-schema` replaces. All of them together made the same tables. */
export const replaced =
  `0001-initial 0002-vaults 0004-files 0005-memory-stores 0006-skills 0007-repositories
  0008-attached-memory 0009-packages 0010-checkpoints 0011-outputs 0013-work 0014-webhooks 0015-work-indexes
  0016-stdio-servers 0018-work-left 0021-fair-turns 0022-deleted-sessions 0023-url-servers 0024-card-changes
  0026-resolved-paths 0027-work-claims 0028-environment-names 0034-recoveries 0035-inbox-bytes`.split(
    /\s+/,
  )

/** The last commit with the replaced migrations. */
const lastCommit = '0547764'

type Recorded = { [DEFAULT_MIGRATION_TABLE]: { name: string; timestamp: string } }

/** Records all replaced migrations of a database as `0001-schema`. Refuses a database that has only some of them. */
async function joinMigrations(db: Queries): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return
  await db.transaction().execute(async (tx) => {
    const recorded = tx.$extendTables<Recorded>()
    const rows = await recorded.selectFrom(DEFAULT_MIGRATION_TABLE).select('name').execute()
    const names = rows.map(({ name }) => name)
    const done = replaced.filter((name) => names.includes(name))
    if (done.length === 0) return
    if (done.length < replaced.length)
      throw new Error(
        `this database has ${done.length} of the ${replaced.length} migrations of earlier versions, and this version knows only all of them: start the server once from commit ${lastCommit}, then from this one`,
      )
    await recorded.deleteFrom(DEFAULT_MIGRATION_TABLE).where('name', 'in', replaced).execute()
    await recorded
      .insertInto(DEFAULT_MIGRATION_TABLE)
      .values({ name: first, timestamp: new Date().toISOString() })
      .execute()
  })
}
