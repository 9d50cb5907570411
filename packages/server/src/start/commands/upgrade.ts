/**
 * `upgrade --check`: what the next start of this version would do to the database, and how long that takes. Works beside
 * running servers, and changes nothing but copies that it removes again.
 */
import { randomInt } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Config } from '../../ground/config/config.ts'
import { schemaNameOf } from '../../ground/database/per-tenant/schema-per-tenant.ts'
import { addsOnly, compareMigrations, lastCommit } from '../../ground/database/migrate.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { sqliteDatabase } from '../../ground/database/sqlite.ts'
import { connected, unchanged } from '../checks/database.ts'

type Tell = (line: string) => void
/** The names of the applied migrations of one database; undefined for one that is made at the first start. */
type Applied = readonly string[] | undefined

const mebibyte = 2 ** 20
const sizeOf = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`
const namesQuery = 'select name from kysely_migration'

/** What a start would do to the database. False: it would refuse it. */
function tellPlan(label: string, applied: Applied, tell: Tell): boolean {
  if (!applied) {
    tell(`${label}: made at the first start`)
    return true
  }
  const { isTooOld, pending, unknown, newer } = compareMigrations(applied)
  if (isTooOld) tell(`${label}: refused, start the server of commit ${lastCommit} once before`)
  else if (unknown.length > 0)
    tell(`${label}: refused, a newer version has changed it (${unknown.join(', ')})`)
  else if (pending.length > 0) {
    const isStopped = !pending.every(addsOnly)
    tell(
      `${label}: ${pending.join(', ')}${isStopped ? '; stop the servers of the version before first' : ''}`,
    )
  } else if (newer.length > 0)
    tell(`${label}: nothing, and a newer version has added ${newer.join(', ')}`)
  else tell(`${label}: nothing`)
  return !isTooOld && unknown.length === 0
}

const hasPending = (applied: Applied): boolean =>
  applied !== undefined && compareMigrations(applied).pending.length > 0

/** Ends with false where a start would refuse a database. `copy`: the URL of a copy in Postgres to try it on. */
export async function checkUpgrade(
  config: Config,
  copy: string | undefined,
  tell: Tell,
): Promise<boolean> {
  if (config.databaseUrl === undefined) return checkFiles(config, tell)
  return checkPostgres(config, config.databaseUrl, copy, tell)
}

function appliedIn(path: string): Applied {
  if (!existsSync(path)) return undefined
  using db = new DatabaseSync(unchanged(path), { readOnly: true })
  const hasTable = db.prepare(`select 1 from sqlite_master where name = 'kysely_migration'`).get()
  return hasTable
    ? db
        .prepare(namesQuery)
        .all()
        .map(({ name }) => String(name))
    : undefined
}

async function checkFiles({ dataDir }: Config, tell: Tell): Promise<boolean> {
  const control = join(dataDir, 'steward.db')
  const folder = join(dataDir, 'tenants')
  const names = existsSync(folder) ? await readdir(folder) : []
  const files = [
    control,
    ...names.filter((name) => name.endsWith('.db')).map((name) => join(folder, name)),
  ]
  let isServed = true
  const pending: string[] = []
  for (const path of files) {
    const applied = appliedIn(path)
    isServed = tellPlan(path, applied, tell) && isServed
    if (hasPending(applied)) pending.push(path)
  }
  await removeLeft(dataDir)
  if (isServed) for (const path of await largestOf(pending)) await tryOnCopy(dataDir, path, tell)
  return isServed
}

/** Those that a start waits for: the one of the deployment, and the largest of a workspace. */
async function largestOf(paths: readonly string[]): Promise<string[]> {
  const sized = await Promise.all(
    paths.map(async (path) => ({ path, size: (await stat(path)).size })),
  )
  return sized
    .toSorted((a, b) => b.size - a.size)
    .slice(0, 2)
    .map(({ path }) => path)
}

const copyPrefix = 'upgrade-check-'

/** Copies that a check which was killed has left. */
async function removeLeft(dataDir: string): Promise<void> {
  const names = existsSync(dataDir) ? await readdir(dataDir) : []
  for (const name of names.filter((each) => each.startsWith(copyPrefix)))
    await rm(join(dataDir, name), { recursive: true, force: true })
}

/** The copy is as secret as the database. The returned function ends the watch. */
function removeOnSignal(folder: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = () => {
    rmSync(folder, { recursive: true, force: true })
    process.exit(130)
  }
  for (const signal of signals) process.once(signal, end)
  return () => {
    for (const signal of signals) process.off(signal, end)
  }
}

async function tryOnCopy(dataDir: string, path: string, tell: Tell): Promise<void> {
  const { size } = await stat(path)
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < 2 * size)
    return tell(`${path}: not tried on a copy of ${sizeOf(size)}, for which ${dataDir} has no room`)
  const folder = await mkdtemp(join(dataDir, copyPrefix))
  const removed = removeOnSignal(folder)
  try {
    const copied = join(folder, 'copy.db')
    {
      using db = new DatabaseSync(unchanged(path), { readOnly: true })
      db.prepare('vacuum into ?').run(copied)
    }
    const begun = performance.now()
    await (await sqliteDatabase(copied)).close()
    tell(`${path}: took ${secondsSince(begun)} on a copy of ${sizeOf(size)}`)
  } finally {
    removed()
    await rm(folder, { recursive: true, force: true })
  }
}

const secondsSince = (begun: number): string =>
  `${((performance.now() - begun) / 1000).toFixed(1)} s`

async function checkPostgres(
  { databaseLimits }: Config,
  url: string,
  copy: string | undefined,
  tell: Tell,
): Promise<boolean> {
  const plan = await plansOf(url, databaseLimits)
  let isServed = true
  for (const [label, applied] of plan) isServed = tellPlan(label, applied, tell) && isServed
  if (!isServed || ![...plan.values()].some(hasPending)) return isServed
  if (copy === undefined) {
    tell(
      'to see how long that takes, restore a dump into another database, and name it by --on-copy URL',
    )
    return true
  }
  await refuseSameDatabase(url, copy, databaseLimits)
  const begun = performance.now()
  await (await postgresDatabase(copy, databaseLimits)).close()
  tell(`took ${secondsSince(begun)} on the copy`)
  return true
}

/**
 * Two URLs may name one database: by a socket and by TCP, or by another role. A lock of a database is seen by every
 * connection to it, and by no other database.
 */
async function refuseSameDatabase(
  url: string,
  copy: string,
  limits: Config['databaseLimits'],
): Promise<void> {
  const lock = randomInt(2 ** 31)
  const isFree = await connected(url, limits, async (client) => {
    await client.query('select pg_advisory_lock($1::bigint)', [lock])
    return connected(copy, limits, async (other) => {
      const { rows } = await other.query<{ is: boolean }>(
        'select pg_try_advisory_lock($1::bigint) as is',
        [lock],
      )
      return rows[0]?.is === true
    })
  })
  if (!isFree) throw new Error('--on-copy names the database itself: name a copy of it')
}

/** The migrations of the database, and of each workspace's schema. */
function plansOf(url: string, limits: Config['databaseLimits']): Promise<Map<string, Applied>> {
  return connected(url, limits, async (client) => {
    const hasTable = async (name: string): Promise<boolean> => {
      const { rows } = await client.query<{ is: boolean }>(
        'select to_regclass($1) is not null as is',
        [name],
      )
      return rows[0]?.is === true
    }
    const namesIn = async (schema: string): Promise<Applied> => {
      if (!(await hasTable(`${schema}.kysely_migration`))) return undefined
      const found = await client.query<{ name: string }>(
        `select name from ${client.escapeIdentifier(schema)}.kysely_migration`,
      )
      return found.rows.map(({ name }) => name)
    }
    const { rows: schemas } = await client.query<{ name: string }>(
      'select current_schema() as name',
    )
    const plans = new Map([['database', await namesIn(schemas[0]?.name ?? 'public')]])
    // A database of an early version has no such table.
    if (!(await hasTable('tenant_databases'))) return plans
    const { rows } = await client.query<{ tenant_id: string }>(
      'select tenant_id from tenant_databases order by tenant_id',
    )
    for (const { tenant_id: tenant } of rows)
      plans.set(`database of ${tenant}`, await namesIn(schemaNameOf(tenant)))
    return plans
  })
}
