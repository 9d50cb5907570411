/** The database, the blobs and the keys that a configuration names. */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Dispatcher } from 'undici'
import type { Blobs } from '../ground/blobs/blobs.ts'
import { diskBlobs } from '../ground/blobs/disk.ts'
import { s3Blobs } from '../ground/blobs/s3.ts'
import type { Bus } from '../ground/bus/bus.ts'
import { memoryBus } from '../ground/bus/memory.ts'
import { postgresBus } from '../ground/bus/postgres.ts'
import type { Config } from '../ground/config/config.ts'
import { derivedKey } from '../ground/core/signed.ts'
import type { Seal } from '../ground/core/seal.ts'
import { sealUnder } from '../ground/core/seal.ts'
import type { Database } from '../ground/database/database.ts'
import { postgresDatabase } from '../ground/database/postgres.ts'
import { sqliteDatabase } from '../ground/database/sqlite.ts'

export const openBus = ({ databaseUrl, databaseLimits }: Config): Promise<Bus> | Bus =>
  databaseUrl ? postgresBus(databaseUrl, databaseLimits) : memoryBus()

export async function openDatabase(
  config: Config,
  options?: { alone: boolean },
): Promise<Database> {
  if (config.databaseUrl) return postgresDatabase(config.databaseUrl, config.databaseLimits)
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  return sqliteDatabase(join(config.dataDir, 'steward.db'), options)
}

/** The key of a purpose, and the one it had under the previous root secret. */
export const keysFor = (
  { rootSecret, previousRootSecret }: Config,
  purpose: string,
): [Buffer, ...Buffer[]] => [
  derivedKey(rootSecret, purpose),
  ...(previousRootSecret === undefined ? [] : [derivedKey(previousRootSecret, purpose)]),
]

/** Seals under the one secret, and opens what was sealed under the previous one too. */
export const sealOf = ({ rootSecret, previousRootSecret }: Config): Seal =>
  sealUnder(rootSecret, previousRootSecret === undefined ? [] : [previousRootSecret])

export async function openBlobs(
  { blobs, dataDir, disk }: Config,
  dispatcher: Dispatcher,
): Promise<Blobs> {
  if (blobs?.type !== 's3')
    return diskBlobs(resolve(blobs?.dir ?? join(dataDir, 'blobs')), disk.floor)
  return s3Blobs({
    endpoint: blobs.endpoint,
    bucket: blobs.bucket,
    region: blobs.region,
    accessKeyId: blobs.access_key_id,
    secretAccessKey: blobs.secret_access_key,
    prefix: blobs.prefix,
    pathStyle: blobs.path_style,
    dispatcher,
  }).catch((cause: unknown) => {
    const why = (cause as Error).message
    throw new Error(`the bucket that STORE_BACKENDS names cannot be used: ${why}`, { cause })
  })
}
