/**
 * Ties a database to the store of its blobs: the database names a mark, and the store holds a blob with that name. Two
 * servers of one database that look into different stores would find each other's files missing or corrupt.
 * [files/one-store]
 */
import { serverCommand } from '@steward/base/own-command.ts'
import { randomUUID } from 'node:crypto'
import { diskError, StorageError } from '../core/errors.ts'
import type { Database } from '../database/database.ts'
import { settingStore } from '../database/setting-store.ts'
import type { Blobs } from './blobs.ts'

const setting = 'blob_store'

/** Whether the database's mark is in the store that this server uses. */
export type BlobStoreMark = { isThere(): Promise<boolean> }

const keyOf = (mark: string): string => `stores/${mark}`

const made = async function* () {
  yield Buffer.from(
    'This folder or bucket belongs to the database whose setting blob_store names this blob.\n',
  )
}

async function putMark(blobs: Blobs): Promise<string> {
  const mark = randomUUID()
  await blobs.put(keyOf(mark), made())
  return mark
}

/**
 * Marks the store for a database that has no mark yet. Throws when the database belongs to another store. Each server
 * puts a mark of its own before it knows whose is first, so that servers of one store may start together.
 */
export async function checkBlobStore(control: Database, blobs: Blobs): Promise<BlobStoreMark> {
  const named = () => settingStore(control.read).get(setting)
  let known = (await named()) ?? (await firstMark(control, blobs))
  async function isThere(): Promise<boolean> {
    // The operator may have accepted another store beside this server. Whether the database answers is asked elsewhere.
    known = (await named().catch(() => known)) ?? known
    const found = await blobs.head(keyOf(known ?? 'none'))
    // Without a mark nothing more could be stored. A start that has room marks the store.
    return known === undefined || found !== undefined
  }
  if (await isThere()) return { isThere }
  throw new Error(
    `the store of files that this server uses is not the one of its database, which has the blob ${keyOf(known ?? '')}: give all servers of a database the same STORE_BACKENDS (and DATA_DIR, where files lie below it), or copy all blobs from the old place. Where the old files are given up, run \`${serverCommand} accept-blobs\``,
  )
}

/** The mark of the server that was first. Undefined where the store is full. */
async function firstMark(control: Database, blobs: Blobs): Promise<string | undefined> {
  const mine = await putMark(blobs).catch((error: unknown) => {
    const why = diskError(error)
    if (why instanceof StorageError && why.reason === 'full') return undefined
    throw error
  })
  if (mine === undefined) return undefined
  await control.write((tx) => settingStore(tx).putFirst(setting, mine))
  const first = (await settingStore(control.read).get(setting)) ?? mine
  if (first !== mine) await blobs.delete(keyOf(mine))
  return first
}

/** Takes the store as the one of the database from now on. Servers that use another one refuse their next start. */
export async function acceptBlobStore(control: Database, blobs: Blobs): Promise<void> {
  const mark = await putMark(blobs)
  await control.write((tx) => settingStore(tx).put(setting, mark))
}
