import type { CheckpointParts as Parts } from '@steward/protocol/checkpoints.ts'
import { looseBlobStore } from '../../ground/blobs/store.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { taking } from '../../ground/database/lock.ts'
import { storeOf } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type CheckpointRow = Tables['checkpoints']

const one = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('checkpoints')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)

const take = (tx: Queries, tenant: string, session: string): Promise<CheckpointRow | undefined> =>
  taking(tx, one(tx, tenant, session)).executeTakeFirst()

function checkpointReads(db: Reads) {
  return {
    row: (tenant: string, session: string): Promise<CheckpointRow | undefined> =>
      one(db, tenant, session).executeTakeFirst(),

    /** Of all tenants: checkpoints that were stored before the time. */
    takenBefore: (at: string, limit: number): Promise<CheckpointRow[]> =>
      db
        .selectFrom('checkpoints')
        .selectAll()
        .where('taken_at', '<', at)
        .orderBy('taken_at')
        .limit(limit)
        .execute(),
  }
}

function checkpointWrites(db: Queries) {
  return {
    /** Like `row`, and locks the row until the transaction ends. */
    take: (tenant: string, session: string) => take(db, tenant, session),

    /** Records that the working folder in this folder is the newest. */
    async use(tenant: string, session: string, folder: string): Promise<void> {
      await db
        .insertInto('checkpoints')
        .values({ tenant_id: tenant, session_id: session, folder, ...none })
        .onConflict((conflict) =>
          conflict.columns(['tenant_id', 'session_id']).doUpdateSet({ folder }),
        )
        .execute()
    },

    async put(tenant: string, session: string, parts: Parts | null, at: string): Promise<void> {
      await db
        .updateTable('checkpoints')
        .set(parts ? { ...columnsOf(parts), taken_at: at } : none)
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },

    /** Removes the row of a deleted session and marks its archives for removal. */
    async remove(tenant: string, session: string, now: number): Promise<void> {
      const row = await take(db, tenant, session)
      if (!row) return
      await markArchives(db, row, now)
      await db
        .deleteFrom('checkpoints')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

/** For each session: where its working folder was used last, and its checkpoint. */
export const checkpointStore = storeOf(checkpointReads, checkpointWrites)

const none = {
  base_key: null,
  base_size: null,
  base_sha256: null,
  delta_key: null,
  delta_size: null,
  delta_sha256: null,
  taken_at: null,
}

const columnsOf = ({ base, delta }: Parts) => ({
  base_key: base.key,
  base_size: base.size,
  base_sha256: base.sha256,
  delta_key: delta?.key ?? null,
  delta_size: delta?.size ?? null,
  delta_sha256: delta?.sha256 ?? null,
})

/** Marks the archives of a row for removal, except those that the row keeps. */
export async function markArchives(
  tx: Queries,
  { tenant_id, base_key, delta_key }: CheckpointRow,
  now: number,
  kept?: Parts,
): Promise<void> {
  for (const key of [base_key, delta_key]) {
    if (key === null || key === kept?.base.key || key === kept?.delta?.key) continue
    await looseBlobStore(tx).mark(tenant_id, key, now)
  }
}

/** True when a checkpoint uses this blob. The key names the session. */
export async function heldByCheckpoint(tx: Queries, tenant: string, key: string): Promise<boolean> {
  const session = key.split('/')[2]
  if (!key.startsWith('checkpoints/') || session === undefined) return false
  const row = await checkpointStore(tx).row(tenant, session)
  return row?.base_key === key || row?.delta_key === key
}
