import type { Seal } from '../core/security/seal.ts'
import type { Database, Queries } from './database.ts'

/** Name of the row in `settings` with the id of the key that the database is sealed under. */
export const rootKeySetting = 'root_key_id'
const name = rootKeySetting

/**
 * Records which root secret seals this database. Throws when the recorded secret is none of the given ones. During a
 * change of the secret, the new one is recorded by `markRootKey`.
 */
export async function checkRootKey(database: Database, seal: Seal): Promise<void> {
  const known = await database.write(async (tx) => {
    // The insert comes first: it waits for a server that starts at the same time, so that both read one value.
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

const nextName = 'root_key_next'

/** Call it before the first value is sealed anew: from then on no server starts that seals under another key. */
export async function beginRootKey(database: Database, seal: Seal): Promise<void> {
  await database.write(async (tx) => {
    await tx.deleteFrom('settings').where('name', '=', nextName).execute()
    await tx.insertInto('settings').values({ name: nextName, value: seal.keyId }).execute()
  })
}

/** Records that all values are sealed under the seal's key. */
export async function markRootKey(tx: Queries, seal: Seal): Promise<void> {
  await tx.updateTable('settings').set({ value: seal.keyId }).where('name', '=', name).execute()
  await tx.deleteFrom('settings').where('name', '=', nextName).execute()
}

const heldBy = 'root_keys_of/'

/**
 * Announces the key of this server until it closes, and removes announcements of dead servers. Throws when the root
 * secret is being changed to another one. The change is recorded before the command looks for servers, and a server
 * announces itself before it looks for a change, so that one of them sees the other.
 */
export async function announceRootKey(database: Database, seal: Seal): Promise<void> {
  const { owners, read } = database
  const { self } = owners
  const gone = await owners.dead((await announced(database)).map(({ owner }) => owner))
  await database.write(async (tx) => {
    const names = [...gone, self].map((owner) => heldBy + owner)
    await tx.deleteFrom('settings').where('name', 'in', names).execute()
    const value = seal.keyId
    await tx
      .insertInto('settings')
      .values({ name: heldBy + self, value })
      .execute()
  })
  const next = await read
    .selectFrom('settings')
    .select('value')
    .where('name', '=', nextName)
    .executeTakeFirst()
  if (!next || next.value === seal.keyId) return
  await withdrawRootKey(database)
  throw new Error(
    `the root secret is being changed to key ${next.value}, and this server's PLATFORM_ROOT_SECRET has key ${seal.keyId}: start it with the new one, the old one as PLATFORM_ROOT_SECRET_PREVIOUS, or run rotate-root-secret back to the old one`,
  )
}

export async function withdrawRootKey(database: Database): Promise<void> {
  const own = heldBy + database.owners.self
  await database.write((tx) => tx.deleteFrom('settings').where('name', '=', own).execute())
}

/**
 * Servers that seal under another key than `keyId`. On SQLite the last started server counts even if it was killed,
 * because another process cannot tell whether it runs.
 */
export async function serversNotUnder(database: Database, keyId: string): Promise<string[]> {
  const others = (await announced(database)).filter((server) => server.keyId !== keyId)
  const owners = others.map(({ owner }) => owner)
  if (database.dialect === 'sqlite') return owners
  const dead = await database.owners.dead(owners)
  return owners.filter((owner) => !dead.includes(owner))
}

/** Servers that use the database now. On SQLite there is none while this process holds the database alone. */
export async function liveServers(database: Database): Promise<string[]> {
  const owners = (await announced(database)).map(({ owner }) => owner)
  const dead = await database.owners.dead(owners)
  return owners.filter((owner) => !dead.includes(owner))
}

async function announced(database: Database): Promise<{ owner: string; keyId: string }[]> {
  const rows = await database.read
    .selectFrom('settings')
    .selectAll()
    .where('name', 'like', `${heldBy}%`)
    .execute()
  return rows.map((row) => ({ owner: row.name.slice(heldBy.length), keyId: row.value }))
}
