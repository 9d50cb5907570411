import type { Seal } from '../core/seal.ts'
import type { Database } from './database.ts'

const name = 'root_key_id'

/** Remembers which root secret this database was sealed under; throws, saying so, when it was another. */
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
  if (known === seal.keyId) return
  throw new Error(
    `the database was sealed under another PLATFORM_ROOT_SECRET (key ${known}, this one is ${seal.keyId}): start with the secret it was made with`,
  )
}
