/** The databases that hold rows of workspaces, opened for a command over all of them. */
import { join } from 'node:path'
import type { Config } from '../../ground/config/config.ts'
import type { Database } from '../../ground/database/database.ts'
import type { MovedDatabases } from '../../ground/database/per-tenant/move-databases.ts'
import { postgresRows, sqliteRows } from '../../ground/database/per-tenant/row-database.ts'
import { schemaNameOf } from '../../ground/database/per-tenant/schema-per-tenant.ts'
import { tenantFiles } from '../../ground/database/per-tenant/tenant-files.ts'
import type { PostgresDatabase } from '../../ground/database/postgres.ts'
import { checkRootKey, liveServers } from '../../ground/database/root-key.ts'
import { openDatabase, createServerSeal } from '../storage.ts'

export type RowDatabases = {
  control: Database
  databases: MovedDatabases
  begin: () => Promise<void>
}

/** Turns off the rules about tables: with one database, control also has the rows of tenants. */
const withoutRules = (config: Config): Config => ({
  ...config,
  tenantDatabases: { ...config.tenantDatabases, enabled: false },
})

function filesOf({ dataDir }: Config, control: Database): RowDatabases {
  const folder = join(dataDir, 'tenants')
  const files = tenantFiles(folder, control.owners)
  return {
    control,
    begin: () => files.begin(),
    databases: {
      control: sqliteRows(join(dataDir, 'steward.db')),
      ofTenant: (tenant) => sqliteRows(files.pathOf(tenant)),
      async make(tenant) {
        if (!files.isThere(tenant)) await files.make(tenant)
      },
      remove: (tenant) => files.remove(tenant),
    },
  }
}

function schemasOf(
  { databaseLimits }: Config,
  url: string,
  postgres: PostgresDatabase,
): RowDatabases {
  const databaseOf = (schema: string | undefined) =>
    postgresRows({ url, limits: databaseLimits, schema })
  return {
    control: postgres,
    begin: async () => {},
    databases: {
      control: databaseOf(undefined),
      ofTenant: (tenant) => databaseOf(schemaNameOf(tenant)),
      make: (tenant) => postgres.schema(schemaNameOf(tenant)).migrate(),
      remove: (tenant) => postgres.schema(schemaNameOf(tenant)).drop(),
    },
  }
}

/**
 * `alone`: throws while a server runs. On Postgres, a server that starts later finds that rows are being moved, or
 * waits for locks.
 */
export async function withRows<T>(
  config: Config,
  { alone }: { alone: boolean },
  work: (opened: RowDatabases) => Promise<T>,
): Promise<T> {
  const { database, postgres } = await openDatabase(withoutRules(config), { alone })
  try {
    await checkRootKey(database, createServerSeal(config))
    const { databaseUrl } = config
    const opened =
      postgres && databaseUrl ? schemasOf(config, databaseUrl, postgres) : filesOf(config, database)
    if (alone) {
      await refuseServers(database)
      await opened.begin()
    }
    return await work(opened)
  } finally {
    await database.close()
  }
}

export async function refuseServers(control: Database): Promise<void> {
  const live = await liveServers(control)
  if (live.length > 0)
    throw new Error(
      `${live.length} server(s) use this database: stop all of them, and run this again`,
    )
}
