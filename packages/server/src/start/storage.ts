/** The database, the blobs and the keys that a configuration names. */
import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Dispatcher } from 'undici'
import { explainListenFailure } from '@steward/base/listening.ts'
import type { Log } from '@steward/base/log.ts'
import { makeFolder } from '@steward/base/make-folder.ts'
import { serverProgram } from '../ground/config/settings.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Blobs } from '../ground/blobs/blobs.ts'
import { diskBlobs } from '../ground/blobs/disk.ts'
import { createBucket } from '../ground/blobs/s3-bucket.ts'
import type { Bucket } from '../ground/blobs/s3-wire.ts'
import { s3Blobs } from '../ground/blobs/s3.ts'
import type { Bus } from '../ground/bus/bus.ts'
import { joinChannels } from '../ground/bus/bus.ts'
import { directChannel } from '../ground/bus/direct/channel.ts'
import { memoryBus } from '../ground/bus/memory.ts'
import { natsChannel } from '../ground/bus/nats/channel.ts'
import { postgresChannel } from '../ground/bus/postgres.ts'
import type { Config } from '../ground/config/config.ts'
import { derivedKey } from '../ground/core/security/signed-tokens.ts'
import { BlobStoreError } from '../ground/core/errors.ts'
import type { Seal } from '../ground/core/security/seal.ts'
import { createSeal } from '../ground/core/security/seal.ts'
import type { Database, Databases } from '../ground/database/database.ts'
import { oneDatabase } from '../ground/database/database.ts'
import type { PostgresDatabase } from '../ground/database/postgres.ts'
import { postgresDatabase } from '../ground/database/postgres.ts'
import { checkShape } from '../ground/database/per-tenant/database-shape.ts'
import { sqliteDatabase } from '../ground/database/sqlite.ts'
import { checkTableLocation } from '../ground/database/tables.ts'
import { describeCauses, writeRemedy } from './checks/finding.ts'

export async function openBus(
  config: Config,
  { owners, log }: { owners: Database['owners']; log: Log },
): Promise<Bus> {
  const { databaseUrl, databaseLimits, busUrl, host, peers } = config
  if (!databaseUrl) return memoryBus()
  const notifications = await postgresChannel(databaseUrl, databaseLimits)
  if (busUrl !== undefined)
    return joinChannels(notifications, await natsChannel({ url: busUrl, log }))
  const address = { ...peers, host: peers.host ?? host }
  const keys = keysFor(config, 'direct connections')
  const { name } = serverProgram.settings.peers.port
  const live = await explainListenFailure(
    name,
    directChannel({ notifications, owners, keys, setup: address, log }),
  )
  return joinChannels(notifications, live)
}

type OpenedDatabase = { database: Database; postgres: PostgresDatabase | undefined }

export async function openDatabase(
  config: Config,
  options?: { alone: boolean },
): Promise<OpenedDatabase> {
  if (config.databaseUrl) {
    const postgres = await postgresDatabase(config.databaseUrl, config.databaseLimits)
    return { database: postgres, postgres }
  }
  const { enabled } = config.tenantDatabases
  const path = join(config.dataDir, 'steward.db')
  await makeWritable(config.dataDir, serverProgram.settings.dataDir.name, [path])
  const database = await sqliteDatabase(path, {
    ...options,
    ...(enabled && { examine: (text) => checkTableLocation(text, 'control') }),
  })
  return { database, postgres: undefined }
}

/** Makes the folders of a server, so that the first use of one does not find that it cannot be written. */
export async function makeFolders({ dataDir, sandboxDir }: Config): Promise<void> {
  const { settings } = serverProgram
  await makeWritable(dataDir, settings.dataDir.name)
  await makeWritable(sandboxDir, settings.sandboxDir.name)
}

/** `files`: those that can be written where they exist. SQLite names neither the path nor the reason. */
async function makeWritable(folder: string, setting: string, files: string[] = []): Promise<void> {
  try {
    await makeFolder(resolve(folder), 0o711)
    await access(folder, constants.W_OK | constants.X_OK)
    for (const file of files)
      if (existsSync(file)) await access(file, constants.R_OK | constants.W_OK)
  } catch (cause) {
    const { code, path = folder } = cause as NodeJS.ErrnoException
    const remedy = writeRemedy(cause, setting)
    throw new Error(`${path} cannot be written (${code}): ${remedy}`, { cause })
  }
}

type TenantDatabaseDeps = {
  clock: Clock
  log: Log
  observe: (database: Database) => Database
  /** The Postgres database of `control`; undefined on SQLite. */
  postgres: PostgresDatabase | undefined
}

/** The databases of tenants: separate ones, or the control database itself. */
export async function openDatabases(
  control: Database,
  { tenantDatabases, dataDir }: Config,
  { postgres, ...deps }: TenantDatabaseDeps,
): Promise<Databases> {
  const { enabled, ...bounds } = tenantDatabases
  await checkShape(control, enabled ? 'tenants' : 'one')
  if (!enabled) return oneDatabase(control)
  if (postgres) {
    const { schemaPerTenant } = await import('../ground/database/per-tenant/schema-per-tenant.ts')
    return schemaPerTenant({ ...deps, control, postgres })
  }
  const { filePerTenant } = await import('../ground/database/per-tenant/file-per-tenant.ts')
  return filePerTenant({ ...deps, control, folder: join(dataDir, 'tenants'), ...bounds })
}

/** The key of a purpose, then its key under the previous root secret. */
export const keysFor = (
  { rootSecret, previousRootSecret }: Config,
  purpose: string,
): [Buffer, ...Buffer[]] => [
  derivedKey(rootSecret, purpose),
  ...(previousRootSecret === undefined ? [] : [derivedKey(previousRootSecret, purpose)]),
]

/** The keys that sign session cookies, from the session secret when it is set, or else from the root secret. */
export function deriveCookieKeys(config: Config): [Buffer, ...Buffer[]] {
  const { sessionSecret } = config
  return sessionSecret === undefined
    ? keysFor(config, 'session-cookie')
    : [derivedKey(sessionSecret, 'session-cookie')]
}

/** Seals under the root secret. Also opens values under the previous root secret. */
export const createServerSeal = ({ rootSecret, previousRootSecret }: Config): Seal =>
  createSeal(rootSecret, previousRootSecret === undefined ? [] : [previousRootSecret])

export async function openBlobs(
  { blobs, dataDir, disk }: Config,
  dispatcher: Dispatcher,
): Promise<Blobs> {
  if (blobs?.type !== 's3') {
    const { stores, dataDir: data } = serverProgram.settings
    const folder = resolve(blobs?.dir ?? join(dataDir, 'blobs'))
    await makeWritable(folder, blobs ? stores.name : data.name)
    return diskBlobs(folder, disk.floor)
  }
  const bucket = { ...bucketOf(blobs, dispatcher), prefix: blobs.prefix }
  return s3Blobs(bucket).catch(explainBucketFailure)
}

type ConfiguredBucket = Extract<Config['blobs'], { type: 's3' }>

const bucketOf = (blobs: ConfiguredBucket, dispatcher: Dispatcher): Bucket => ({
  endpoint: blobs.endpoint,
  bucket: blobs.bucket,
  region: blobs.region,
  accessKeyId: blobs.access_key_id,
  secretAccessKey: blobs.secret_access_key,
  pathStyle: blobs.path_style,
  dispatcher,
})

function explainBucketFailure(error: unknown): never {
  const cause = error instanceof BlobStoreError ? error.cause : error
  const why = describeCauses(cause)
  throw new Error(`the bucket that STORE_BACKENDS names cannot be used: ${why}`, { cause })
}

/** Returns the name of the bucket, and whether it was made. Throws where the configuration names none. */
export async function createConfiguredBucket(
  { blobs }: Config,
  dispatcher: Dispatcher,
): Promise<{ name: string; isNew: boolean }> {
  if (blobs?.type !== 's3') throw new Error('STORE_BACKENDS names no bucket')
  const isNew = await createBucket(bucketOf(blobs, dispatcher)).catch(explainBucketFailure)
  return { name: blobs.bucket, isNew }
}
