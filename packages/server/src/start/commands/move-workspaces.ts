/** Commands over the databases of all workspaces: one moves rows between them, one migrates them. */
import { systemClock } from '@steward/base/time.ts'
import type { Config } from '../../ground/config/config.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import type { Database } from '../../ground/database/database.ts'
import type { MoveTarget } from '../../ground/database/per-tenant/move-databases.ts'
import { moveDatabases } from '../../ground/database/per-tenant/move-databases.ts'
import { tenantDatabaseStore } from '../../ground/database/per-tenant/tenant-databases.ts'
import { byOperator } from './audit.ts'
import { checkRootKey } from '../../ground/database/root-key.ts'
import { openDatabase, openDatabases, createServerSeal } from '../storage.ts'
import { refuseServers, withRows } from './row-databases.ts'

/** Returns false when the rows are in place already. */
export const moveWorkspaces = (
  config: Config,
  to: MoveTarget,
  report: (line: string) => void,
): Promise<boolean> =>
  withRows(config, { alone: true }, async ({ control, databases }) => {
    const check = () => refuseServers(control)
    const deps = { control, databases, report, check, now: () => systemClock.now() }
    const isMoved = await moveDatabases(deps, to)
    if (isMoved)
      await byOperator({ control, open: async () => control }, 'move-databases', (databases) =>
        databases.control.write(async () => auditChange({ type: 'databases', after: { to } })),
      )
    return isMoved
  })

/** Opens each database once, which migrates it. Returns how many databases failed. */
export async function migrateAll(config: Config, report: (line: string) => void): Promise<number> {
  const { database, postgres } = await openDatabase(config, {
    alone: config.databaseUrl === undefined,
  })
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const observe = (each: Database) => each
  const deps = { clock: systemClock, log, observe, postgres }
  try {
    await checkRootKey(database, createServerSeal(config))
  } catch (error) {
    await database.close()
    throw error
  }
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
