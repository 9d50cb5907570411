import type { Seal } from '../core/seal.ts'
import type { Database, Queries } from './database.ts'

const name = 'root_key_id'

/**
 * Remembers which root secret this database was sealed under; throws, saying so, when it is none of those held. One
 * that is to take its place counts once `markRootKey` is called.
 */
export async function checkRootKey(database: Database, seal: Seal): Promise<void> {
  const known = await database.write(async (tx) => {
    // First the insert, which waits for whoever starts at the same time: then there is one answer.
    await tx
      .insertInto('settings')
      .values({ name, value: seal.keyId })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
    const row = await tx
      .selectFrom('settings')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    return row.value
  })
  if (seal.keyIds.includes(known)) return
  throw new Error(
    `the database was sealed under another PLATFORM_ROOT_SECRET (key ${known}, this one is ${seal.keyId}): start with the secret it was made with, or give that one as PLATFORM_ROOT_SECRET_PREVIOUS to change it`,
  )
}

/** Everything is sealed under the seal's own key from here on. */
export async function markRootKey(tx: Queries, seal: Seal): Promise<void> {
  await tx.updateTable('settings').set({ value: seal.keyId }).where('name', '=', name).execute()
}

const heldBy = 'root_keys_of/'

/** Says which keys this server holds, until it closes; forgets what dead ones said. */
export async function announceRootKeys(database: Database, seal: Seal): Promise<void> {
  const { owners } = database
  const { self } = owners
  const gone = await owners.dead((await announced(database)).map(({ owner }) => owner))
  await database.write(async (tx) => {
    const names = [...gone, self].map((owner) => heldBy + owner)
    await tx.deleteFrom('settings').where('name', 'in', names).execute()
    const value = seal.keyIds.join(' ')
    await tx
      .insertInto('settings')
      .values({ name: heldBy + self, value })
      .execute()
  })
}

export async function withdrawRootKeys(database: Database): Promise<void> {
  const own = heldBy + database.owners.self
  await database.write((tx) => tx.deleteFrom('settings').where('name', '=', own).execute())
}

/**
 * Servers that could not open what is sealed under this key. On SQLite the one that started last counts even if it
 * was killed: whether it still runs cannot be told from beside it.
 */
export async function serversWithout(database: Database, keyId: string): Promise<string[]> {
  const without = (await announced(database)).filter(({ keys }) => !keys.includes(keyId))
  const owners = without.map(({ owner }) => owner)
  if (database.dialect === 'sqlite') return owners
  const dead = await database.owners.dead(owners)
  return owners.filter((owner) => !dead.includes(owner))
}

async function announced(database: Database): Promise<{ owner: string; keys: string[] }[]> {
  const rows = await database.read
    .selectFrom('settings')
    .selectAll()
    .where('name', 'like', `${heldBy}%`)
    .execute()
  return rows.map((row) => ({ owner: row.name.slice(heldBy.length), keys: row.value.split(' ') }))
}
