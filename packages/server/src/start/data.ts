/** The ground of the service: the databases, checked against the root secret, and the keys of workspaces. */
import type { Config } from '../ground/config/config.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Bus } from '../ground/bus/bus.ts'
import { publishNotice } from '../ground/bus/publish-notice.ts'
import type { Notice } from '../ground/core/notice.ts'
import type { Database, Databases } from '../ground/database/database.ts'
import { auditedDatabase } from '../ground/database/audited-database.ts'
import { observedDatabase } from '../ground/database/observed-database.ts'
import { withNotices } from '../ground/database/notices.ts'
import { withKeys, workspaceKeys } from '../ground/database/workspace-keys.ts'
import { announceRootKey, checkRootKey } from '../ground/database/root-key.ts'
import { checkKeys, checkSealed } from './root-secret/rotate.ts'
import { ensureInitialWorkspace } from '../tenants/workspaces/create.ts'
import { makeFolders, openBus, openDatabase, openDatabases, createServerSeal } from './storage.ts'
import type { Ground } from '../ground/ground.ts'

/** Replacements that a test gives for the clock and the database. */
export type DataOverrides = {
  clock?: Clock
  database?: (built: Database) => Database
  /** Called once with the databases, before the server listens. */
  opened?: (databases: Databases) => void
}

export async function openData(
  config: Config,
  log: Log,
  { clock = systemClock, ...overrides }: DataOverrides,
) {
  await makeFolders(config)
  const root = createServerSeal(config)
  const { database: opened, postgres } = await openDatabase(config)
  const observed = (each: Database) =>
    config.metrics.port === undefined ? each : observedDatabase(each)
  /** Empty until the bus is open: nobody has listened before. */
  const open: { bus?: Bus } = {}
  const publish = (notice: Notice) => open.bus && publishNotice(open.bus, notice)
  const complete = (each: Database) => auditedDatabase(withNotices(each, { publish, log }), clock)
  const observe = (each: Database) => complete(observed(each))
  const built = observed(opened)
  const database = complete(overrides.database?.(built) ?? built)
  await checkRootKey(database, root)
  await announceRootKey(database, root)
  const ofTenants = { clock, log, observe, postgres }
  const keys = workspaceKeys(database, root, clock)
  const found = await openDatabases(database, config, ofTenants).catch(async (error) => {
    await opened.close()
    throw error
  })
  const databases = withKeys(found, keys)
  overrides.opened?.(databases)
  await checkKeys(database, root)
  await databases.prepare((each) => checkSealed(each, root))
  await ensureInitialWorkspace({ databases, clock, log }, config.apiKey)
  const bus = await openBus(config, { owners: database.owners, log })
  open.bus = bus
  const ground: Ground = { databases, bus, clock, log, seal: keys.seal }
  return { ground, database }
}
