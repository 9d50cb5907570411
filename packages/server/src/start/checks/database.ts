/** Checks the database in its present state. The check migrates, creates and writes nothing. */
import { serverCommand } from '@steward/base/own-command.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import type { Config } from '../../ground/config/config.ts'
import { postgresConnector, surviveLoss } from '../../ground/core/postgres-client.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import { schemaNameOf } from '../../ground/database/per-tenant/schema-per-tenant.ts'
import { compareMigrations, lastCommit } from '../../ground/database/migrate.ts'
import { rootKeySetting } from '../../ground/database/root-key.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { failed, ok, describeCauses, warning } from './finding.ts'

type RunQuery = (query: string) => Promise<Record<string, unknown>[]>

/** The largest difference between the clocks of the database and of this machine: leases are compared with both. */
const clockMs = 2_000
/** The database connections of one server process. */
const connectionsOfProcess = 24

export const databaseCheck =
  (config: Config, seal: Seal): SetupCheck =>
  () =>
    config.databaseUrl ? postgres(config, config.databaseUrl, seal) : sqlite(config, seal)

async function sqlite({ dataDir }: Config, seal: Seal): Promise<SetupFinding[]> {
  const path = join(dataDir, 'steward.db')
  if (!existsSync(path)) return [ok(`database: SQLite, ${path} is made at the first start`)]
  try {
    using db = new DatabaseSync(unchanged(path), { readOnly: true })
    const ask: RunQuery = async (query) => db.prepare(query).all()
    const asTenant = async (tenant: string): Promise<RunQuery> => openFile(dataDir, tenant)
    return [
      ok(`database: SQLite, ${path}`),
      ...(await contents(ask, seal)),
      ...(await tenantsOf(ask, asTenant)),
    ]
  } catch (error) {
    const mending = 'give the account of the server the file, or restore it from a backup'
    return [failed(`database: SQLite, ${path} cannot be read: ${describeCauses(error)}`, mending)]
  }
}

/**
 * Opening a database with a write-ahead log creates the files of the log. Without them, no server runs and the database
 * is opened as immutable.
 */
export function unchanged(path: string): string | URL {
  if (existsSync(`${path}-wal`)) return path
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  return url
}

/** Calls with a connection that ends with the call. */
export async function connected<T>(
  url: string,
  limits: Config['databaseLimits'],
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const connecting = postgresConnector(url, limits)
  const client = new pg.Client(connecting.config)
  surviveLoss(client)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await connecting.close(client.end())
  }
}

async function postgres(config: Config, url: string, seal: Seal): Promise<SetupFinding[]> {
  try {
    return await connected(url, config.databaseLimits, async (client) => {
      const ask: RunQuery = async (query) =>
        (await client.query<Record<string, unknown>>(query)).rows
      const asTenant = async (tenant: string): Promise<RunQuery> => {
        await client.query(`set search_path to "${schemaNameOf(tenant)}"`)
        return ask
      }
      return [
        ...(await server(ask)),
        ...(await contents(ask, seal)),
        ...(await tenantsOf(ask, asTenant)),
      ]
    })
  } catch (error) {
    const mending = 'look at DATABASE_URL, whether Postgres runs, and what its log says'
    return [failed(`database: Postgres, no connection: ${describeCauses(error)}`, mending)]
  }
}

async function server(ask: RunQuery): Promise<SetupFinding[]> {
  const began = Date.now()
  const [row = {}] = await ask(`
    select current_setting('server_version') as version, current_setting('max_connections')::int as most,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`)
  const middle = (began + Date.now()) / 2
  const { version, most, used, now } = row
  const free = Number(most) - Number(used)
  const room = `${free} of ${Number(most)} connections are free`
  const apartMs = Math.round(Math.abs(Number(now) - middle))
  return [
    free > connectionsOfProcess
      ? ok(`database: Postgres ${String(version)}, ${room}`)
      : warning(
          `database: Postgres ${String(version)}, ${room}, and a process takes up to ${connectionsOfProcess}`,
          'raise max_connections of Postgres, or put a pooler in its session mode before it',
        ),
    apartMs < clockMs
      ? ok(`clock: ${apartMs} ms from the one of Postgres`)
      : failed(
          `clock: ${apartMs} ms from the one of Postgres, by whose time leases end`,
          'synchronise both clocks, for instance by chrony',
        ),
  ]
}

async function contents(ask: RunQuery, seal: Seal): Promise<SetupFinding[]> {
  const applied = await ask('select name from kysely_migration').catch(() => undefined)
  if (!applied) return [ok('tables: made at the first start')]
  const { isTooOld, pending, unknown, newer } = compareMigrations(
    applied.map(({ name }) => String(name)),
  )
  if (isTooOld)
    return [
      failed(
        `tables: those of a version before commit ${lastCommit}, which this version cannot bring up to date`,
        'start the server once from that commit',
      ),
    ]
  if (unknown.length > 0)
    return [
      failed(
        `tables: a version newer than this one has changed them (${unknown.join(', ')})`,
        'start that version, or restore a backup that this one has made',
      ),
    ]
  const tables =
    pending.length > 0
      ? 'brought up to date at the next start'
      : newer.length > 0
        ? `a newer version has added to them (${newer.join(', ')}), which this one leaves alone`
        : 'as this version has them'
  const [row] = await ask(`select value from settings where name = '${rootKeySetting}'`)
  return [ok(`tables: ${tables}`), rootSecret(row && String(row['value']), seal)]
}

/** Opens and closes the file for each query: there may be more files than one process may have open. */
function openFile(dataDir: string, tenant: string): RunQuery {
  const path = join(dataDir, 'tenants', `${tenant}.db`)
  if (!existsSync(path)) throw new Error('its file is not there')
  return async (query) => {
    using db = new DatabaseSync(unchanged(path), { readOnly: true })
    return db.prepare(query).all()
  }
}

/** The most findings that are shown one by one. */
const mostShown = 5

/** Checks the database of each workspace: whether it can be read, and whether its tables have this version. */
async function tenantsOf(
  ask: RunQuery,
  asTenant: (tenant: string) => Promise<RunQuery>,
): Promise<SetupFinding[]> {
  const rows = await ask('select tenant_id from tenant_databases order by tenant_id').catch(
    // A database of an earlier version has no such table.
    () => [],
  )
  if (rows.length === 0) return []
  let pendingCount = 0
  let tooOldCount = 0
  const damaged: { tenant: string; why: string }[] = []
  for (const row of rows) {
    const tenant = String(row['tenant_id'])
    try {
      const applied = await (await asTenant(tenant))('select name from kysely_migration')
      const { isTooOld, pending, unknown } = compareMigrations(
        applied.map(({ name }) => String(name)),
      )
      if (isTooOld) tooOldCount++
      if (unknown.length > 0)
        throw new Error(`a newer version has changed it (${unknown.join(', ')})`)
      if (pending.length > 0) pendingCount++
    } catch (error) {
      damaged.push({ tenant, why: describeCauses(error) })
    }
  }
  const shown = damaged
    .slice(0, mostShown)
    .map(({ tenant, why }) =>
      failed(
        `database of ${tenant}: ${why}`,
        'requests of this workspace answer 503: put it back from a backup, by restore-workspace with all servers stopped',
      ),
    )
  const rest = damaged.length - shown.length
  if (rest > 0)
    shown.push(
      failed(
        `databases of workspaces: ${rest} more are damaged`,
        'mend those above, and run this again',
      ),
    )
  if (tooOldCount > 0)
    shown.push(
      failed(
        `databases of workspaces: ${tooOldCount} are of a version before commit ${lastCommit}`,
        `run \`${serverCommand} migrate --all\` from that commit, with all servers stopped`,
      ),
    )
  const sound = rows.length - damaged.length
  const later =
    pendingCount === 0 ? '' : `, ${pendingCount} are brought up to date at their next use`
  return [ok(`databases of workspaces: ${sound} of ${rows.length} can be read${later}`), ...shown]
}

function rootSecret(known: string | undefined, seal: Seal): SetupFinding {
  if (known === undefined || known === seal.keyId)
    return ok('root secret: the one of this database')
  return seal.keyIds.includes(known)
    ? warning(
        'root secret: what is sealed is still under PLATFORM_ROOT_SECRET_PREVIOUS',
        `run \`${serverCommand} rotate-root-secret\`, and remove the previous secret then`,
      )
    : failed(
        'root secret: the database was sealed under another one',
        'start with the secret that the database was made with, or give that one as PLATFORM_ROOT_SECRET_PREVIOUS',
      )
}
