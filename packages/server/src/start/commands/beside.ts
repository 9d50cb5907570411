/** The databases of a command that runs beside servers. */
import { join } from 'node:path'
import { systemClock } from '@steward/base/time.ts'
import type { Config } from '../../ground/config/config.ts'
import type { Database, OpenDatabases } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { checkShape } from '../../ground/database/per-tenant/database-shape.ts'
import { tenantDatabaseStore } from '../../ground/database/per-tenant/tenant-databases.ts'
import { tenantFiles } from '../../ground/database/per-tenant/tenant-files.ts'
import { checkRootKey } from '../../ground/database/root-key.ts'
import { openDatabase, createServerSeal } from '../storage.ts'

export type DatabasesBeside = {
  /** The database of a tenant is closed when the database of another tenant is opened. */
  databases: OpenDatabases
  /** The databases that hold rows of tenants, one open at a time. */
  holders(): AsyncIterable<Database>
  close(): Promise<void>
}

/** Throws when the database was sealed under another root secret. */
export async function databasesBeside(config: Config): Promise<DatabasesBeside> {
  const { database: control, postgres } = await openDatabase(config, { alone: false })
  const { enabled } = config.tenantDatabases
  const close = () => control.close()
  try {
    await checkRootKey(control, createServerSeal(config))
    await checkShape(control, enabled ? 'tenants' : 'one')
    if (!enabled) {
      const databases = oneDatabase(control)
      return { databases, holders: () => databases.due(), close }
    }
    return postgres ? await schemas(control, postgres) : files(config, control)
  } catch (error) {
    await close()
    throw error
  }
}

type PostgresControl = NonNullable<Awaited<ReturnType<typeof openDatabase>>['postgres']>

async function schemas(control: Database, postgres: PostgresControl): Promise<DatabasesBeside> {
  const { schemaPerTenant } = await import('../../ground/database/per-tenant/schema-per-tenant.ts')
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const databases = schemaPerTenant({ control, postgres, clock: systemClock, log })
  return {
    databases,
    async *holders() {
      for (const tenant of await tenantDatabaseStore(control.read).all())
        yield await databases.open(tenant)
    },
    close: () => databases.close(),
  }
}

function files({ dataDir }: Config, control: Database): DatabasesBeside {
  const databases = tenantFiles(join(dataDir, 'tenants'), control.owners)
  /**
   * At most one tenant's file is open: a command works on one tenant after the other, and each file takes 6
   * descriptors.
   */
  let opened: { tenant: string; database: Database } | undefined
  async function openFile(tenant: string): Promise<Database> {
    if (databases.isThere(tenant)) return databases.openBeside(tenant)
    if (await tenantDatabaseStore(control.read).isKnown(tenant))
      throw new Error(`the file of the database of ${tenant} is not there`)
    throw new Error(`${tenant} has no database yet, because nobody has used it`)
  }
  async function closeOpened(): Promise<void> {
    const { database } = opened ?? {}
    opened = undefined
    await database?.close()
  }
  return {
    databases: {
      control,
      async open(tenant) {
        if (opened?.tenant === tenant) return opened.database
        await closeOpened()
        const database = await openFile(tenant)
        opened = { tenant, database }
        return database
      },
    },
    async *holders() {
      for (const tenant of await tenantDatabaseStore(control.read).all()) {
        const holder = await openFile(tenant)
        try {
          yield holder
        } finally {
          await holder.close()
        }
      }
    },
    async close() {
      await closeOpened()
      await control.close()
    },
  }
}
