/** Commands over all rows of workspaces: moving them between databases, backing one up, putting one back. */
import { join, resolve } from 'node:path'
import { iso, systemClock } from '@steward/base/time.ts'
import type { Config } from '../ground/config/config.ts'
import { auditChange } from '../ground/core/audited-call.ts'
import type { Database, Queries } from '../ground/database/database.ts'
import type { BackupHead } from '../ground/database/per-tenant/backup.ts'
import {
  checkBackup,
  restoreRows,
  restoreWorkspace,
  writeBackup,
} from '../ground/database/per-tenant/backup.ts'
import type { MovePlaces, MoveTarget } from '../ground/database/per-tenant/move-databases.ts'
import { moveDatabases } from '../ground/database/per-tenant/move-databases.ts'
import { postgresRows, sqliteRows } from '../ground/database/per-tenant/row-place.ts'
import { schemaNameOf } from '../ground/database/per-tenant/schema-per-tenant.ts'
import { shapeOf } from '../ground/database/per-tenant/database-shape.ts'
import { tenantDatabaseStore } from '../ground/database/per-tenant/tenant-databases.ts'
import { tenantFiles } from '../ground/database/per-tenant/tenant-files.ts'
import type { PostgresDatabase } from '../ground/database/postgres.ts'
import { checkRootKey, liveServers } from '../ground/database/root-key.ts'
import {
  sealOfRow,
  workspaceKeyPlace,
  workspaceKeys,
  workspaceKeyStore,
} from '../ground/database/workspace-keys.ts'
import type { Sealed } from '../ground/core/seal.ts'
import { workspaceId } from '../tenants/workspaces/create.ts'
import { byOperator } from './audit.ts'
import { keysFor, openDatabase, openDatabases, sealOf } from './storage.ts'

type RowPlaces = { control: Database; places: MovePlaces; begin: () => Promise<void> }

/** With the rules about tables off: in one database, control has the rows of tenants too. */
const withoutRules = (config: Config): Config => ({
  ...config,
  tenantDatabases: { ...config.tenantDatabases, enabled: false },
})

function filesOf({ dataDir }: Config, control: Database): RowPlaces {
  const folder = join(dataDir, 'tenants')
  const files = tenantFiles(folder, control.owners)
  return {
    control,
    begin: () => files.begin(),
    places: {
      control: sqliteRows(join(dataDir, 'steward.db')),
      ofTenant: (tenant) => sqliteRows(files.pathOf(tenant)),
      async make(tenant) {
        if (!files.isThere(tenant)) await files.make(tenant)
      },
      remove: (tenant) => files.remove(tenant),
    },
  }
}

function schemasOf({ databaseLimits }: Config, url: string, postgres: PostgresDatabase): RowPlaces {
  const placeOf = (schema: string | undefined) =>
    postgresRows({ url, limits: databaseLimits, schema })
  return {
    control: postgres,
    begin: async () => {},
    places: {
      control: placeOf(undefined),
      ofTenant: (tenant) => placeOf(schemaNameOf(tenant)),
      make: (tenant) => postgres.schema(schemaNameOf(tenant)).migrate(),
      remove: (tenant) => postgres.schema(schemaNameOf(tenant)).drop(),
    },
  }
}

/** `alone`: refused while a server runs. On Postgres a server that starts later finds that rows are being moved, or waits for locks. */
async function withRows<T>(
  config: Config,
  { alone }: { alone: boolean },
  work: (opened: RowPlaces) => Promise<T>,
): Promise<T> {
  const { database, postgres } = await openDatabase(withoutRules(config), { alone })
  try {
    await checkRootKey(database, sealOf(config))
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

async function refuseServers(control: Database): Promise<void> {
  const live = await liveServers(control)
  if (live.length > 0)
    throw new Error(
      `${live.length} server(s) use this database: stop all of them, and run this again`,
    )
}

/** Returns false where the rows are there already. */
export const moveWorkspaces = (
  config: Config,
  to: MoveTarget,
  report: (line: string) => void,
): Promise<boolean> =>
  withRows(config, { alone: true }, async ({ control, places }) => {
    const check = () => refuseServers(control)
    const deps = { control, places, report, check, now: () => systemClock.now() }
    const isMoved = await moveDatabases(deps, to)
    if (isMoved)
      await byOperator({ control, open: async () => control }, 'move-databases', (databases) =>
        databases.control.write(async () => auditChange({ type: 'databases', after: { to } })),
      )
    return isMoved
  })

const backupKeys = (config: Config) => keysFor(config, 'workspace backup')

/** Writes the line of the audit of a command about a workspace, which `find` finds. Returns its id. */
const tellOf = (
  control: Database,
  command: string,
  find: (tx: Queries) => Promise<{ id: string; after: { made_at: string } | null }>,
): Promise<string> =>
  byOperator({ control, open: async () => control }, command, (databases) =>
    databases.control.write(async (tx) => {
      const { id, after } = await find(tx)
      auditChange({ type: 'workspace', id, after })
      return id
    }),
  )

type WorkspaceFile = { workspace: string; rows: number }

/** Makes the key where nobody has used the workspace, so that no secret comes into the rows under another. */
async function keyOfBackup(
  config: Config,
  control: Database,
  { workspace, isWithKey }: { workspace: string; isWithKey: boolean },
): Promise<BackupHead['workspace_key']> {
  const root = sealOf(config)
  await workspaceKeys(control, root, systemClock).hold(workspace)
  const row = await workspaceKeyStore(control.read).find(workspace)
  if (!row) return undefined
  return { id: sealOfRow(root, row).keyId, ...(isWithKey && { sealed: row.sealed }) }
}

/** Puts the key back that the file holds. False where the workspace has no longer the key that its secrets were sealed under. */
async function restoreKey(
  config: Config,
  control: Database,
  { workspace, made_at, workspace_key: kept }: BackupHead,
): Promise<boolean> {
  if (!kept) return true
  const root = sealOf(config)
  if (kept.sealed === undefined) {
    const row = await workspaceKeyStore(control.read).find(workspace)
    return row !== undefined && sealOfRow(root, row).keyId === kept.id
  }
  const place = workspaceKeyPlace(workspace)
  const sealed = root.seal(root.open(kept.sealed as Sealed, place), place)
  const row = { tenant_id: workspace, sealed, created_at: made_at }
  await control.write((tx) => workspaceKeyStore(tx).replace(row))
  return true
}

async function placeOf({ control, places }: RowPlaces, workspace: string) {
  const isOwn = (await shapeOf(control)) === 'tenants'
  return isOwn ? places.ofTenant(workspace) : places.control
}

/** Beside running servers. */
export const backUpWorkspace = (
  config: Config,
  idOrName: string,
  { path, isWithKey = false }: { path: string; isWithKey?: boolean },
): Promise<WorkspaceFile> =>
  withRows(config, { alone: false }, async (opened) => {
    const { control, places } = opened
    if ((await shapeOf(control)) === 'moving')
      throw new Error('the rows of the workspaces are being moved: let that end first')
    const workspace = await tellOf(control, 'backup-workspace', async (tx) => {
      const id = await workspaceId(tx, idOrName)
      return { id, after: null }
    })
    if ((await shapeOf(control)) === 'tenants') await checkMade(control, workspace)
    const rows = await writeBackup(
      resolve(path),
      workspace,
      { control: places.control, tenant: await placeOf(opened, workspace) },
      {
        rootKeyId: sealOf(config).keyId,
        key: backupKeys(config)[0],
        now: iso(systemClock.now()),
        workspaceKey: await keyOfBackup(config, control, { workspace, isWithKey }),
      },
    )
    return { workspace, rows }
  })

async function checkMade({ read }: Database, workspace: string): Promise<void> {
  if (!(await tenantDatabaseStore(read).isKnown(workspace)))
    throw new Error(`${workspace} has no database yet, because nobody has used it`)
}

type RestoredWorkspace = WorkspaceFile & {
  /** Whether the secrets of the workspace can be opened. */
  opens: boolean
}

export const restoreWorkspaceFrom = (config: Config, path: string): Promise<RestoredWorkspace> =>
  withRows(config, { alone: true }, async (opened) => {
    const { control, places } = opened
    if ((await shapeOf(control)) === 'moving')
      throw new Error('the rows of the workspaces are being moved: let that end first')
    const head = await checkBackup(path, {
      rootKeyIds: sealOf(config).keyIds,
      keys: backupKeys(config),
    })
    const { workspace, made_at } = head
    // First, so that no restored workspace is without it; the workspace's own chain is replaced.
    await tellOf(control, 'restore-workspace', async () => ({ id: workspace, after: { made_at } }))
    await restoreWorkspace(path, workspace, places.control)
    const opens = await restoreKey(config, control, head)
    if ((await shapeOf(control)) === 'tenants') {
      await places.make(workspace)
      const now = systemClock.now()
      await control.write(async (tx) => {
        await tenantDatabaseStore(tx).add(workspace, now)
        await tenantDatabaseStore(tx).wake(workspace, now)
      })
    }
    const rows = await restoreRows(path, workspace, await placeOf(opened, workspace))
    return { workspace, rows, opens }
  })

/** Opens each database once, which brings it up to date. Returns how many could not be. */
export async function migrateAll(config: Config, report: (line: string) => void): Promise<number> {
  const { database, postgres } = await openDatabase(config, {
    alone: config.databaseUrl === undefined,
  })
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const observe = (each: Database) => each
  const deps = { clock: systemClock, log, observe, postgres }
  const databases = await openDatabases(database, config, deps)
  let failed = 0
  try {
    for (const tenant of await tenantDatabaseStore(database.read).all())
      await databases.open(tenant).catch((error: unknown) => {
        failed++
        const { cause } = error as Error
        report(`${tenant}: ${cause instanceof Error ? cause.message : String(error)}`)
      })
  } finally {
    await databases.close()
  }
  report(failed === 0 ? 'all databases are up to date' : 'the others are up to date')
  return failed
}
