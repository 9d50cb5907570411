/** For tests: tenants with a database each, in both shapes. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogFields } from '@steward/base/log.ts'
import { iso, systemClock } from '@steward/base/time.ts'
import type { Clock } from '@steward/base/time.ts'
import { toJson } from '../../core/text/json-text.ts'
import type { Database, Databases } from '../database.ts'
import { createSqliteFile, newPostgresUrl } from '../fixture.ts'
import { postgresDatabase } from '../postgres.ts'
import { sqliteDatabase } from '../sqlite.ts'
import { checkTableLocation } from '../tables.ts'
import { filePerTenant } from './file-per-tenant.ts'
import { schemaPerTenant } from './schema-per-tenant.ts'

/** Opens the databases like a process that starts. */
type OpenShape = (
  clock: Clock,
  log: Parameters<typeof filePerTenant>[0]['log'],
) => Promise<Databases>

export type TenantDatabases = AsyncDisposable & {
  /** The databases that were opened last. */
  databases: Databases
  /** The folder of the files. */
  folder: string
  errors: LogFields[]
  close: () => Promise<void>
  /** Opens the databases again, like a restart. */
  reopen: () => Promise<Databases>
}

type ShapeOptions = { mostOpen?: number; mostBytes?: number; clock?: Clock }

async function opened(
  tenants: readonly string[],
  { clock = systemClock }: ShapeOptions,
  { open, folder, remove }: { open: OpenShape; folder: string; remove: () => Promise<void> },
): Promise<TenantDatabases> {
  const errors: LogFields[] = []
  const none = () => {}
  const log = {
    ...{ debug: none, info: none, warn: none },
    error: (_: string, fields: LogFields = {}) => void errors.push(fields),
  }
  let isOpen = true
  const at: TenantDatabases = {
    databases: await open(clock, log),
    folder,
    errors,
    async close() {
      if (isOpen) await at.databases.close()
      isOpen = false
    },
    async reopen() {
      await at.close()
      at.databases = await open(clock, log)
      isOpen = true
      return at.databases
    },
    async [Symbol.asyncDispose]() {
      await at.close()
      await remove()
    },
  }
  for (const id of tenants) await addWorkspace(at.databases.control, id)
  return at
}

export async function openFilePerTenant(
  tenants: readonly string[],
  options: ShapeOptions = {},
): Promise<TenantDatabases> {
  const root = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const folder = join(root, 'tenants')
  const path = await createSqliteFile(root)
  const { mostOpen = 2, mostBytes = 2 ** 30 } = options
  return opened(tenants, options, {
    folder,
    remove: () => rm(root, { recursive: true, force: true }),
    async open(clock, log) {
      const control = await sqliteDatabase(path, {
        examine: (sql) => checkTableLocation(sql, 'control'),
      })
      return filePerTenant({ control, folder, mostOpen, mostBytes, clock, log })
    },
  })
}

export async function openSchemaPerTenant(
  tenants: readonly string[],
  options: ShapeOptions = {},
): Promise<TenantDatabases> {
  const url = await newPostgresUrl()
  return opened(tenants, options, {
    folder: '',
    remove: async () => {},
    async open(clock, log) {
      const postgres = await postgresDatabase(url)
      return schemaPerTenant({ control: postgres, postgres, clock, log })
    },
  })
}

export const tenantShapes = { files: openFilePerTenant, schemas: openSchemaPerTenant }

export const addWorkspace = (control: Database, id: string) =>
  control.write((tx) =>
    tx
      .insertInto('workspaces')
      .values({ id, name: id, archived_at: null, deleted_at: null, created_at: iso(0) })
      .execute(),
  )

/** Inserts a vault whose name contains the tenant's id. */
export const putVault = (database: Database, tenant: string, id: string) =>
  database.write((tx) =>
    tx
      .insertInto('vaults')
      .values({
        ...{ tenant_id: tenant, id, name: `canary-of-${tenant}`, metadata: toJson({}) },
        ...{ archived_at: null, created_at: iso(0), updated_at: iso(0) },
      })
      .execute(),
  )

/** The ids of all vaults, of any tenant. */
export const vaultsIn = async ({ read }: Database): Promise<string[]> => {
  const rows = await read.selectFrom('vaults').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

export async function collectItems<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}
