import type { CheckpointParts as Parts } from '@steward/protocol/checkpoints.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { forUpdate } from '../../ground/database/lock.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { toCheckpointColumns } from './columns.ts'
import type { PastCheckpoint } from './past-checkpoints.ts'
import { markAll, pastStore } from './past-checkpoints.ts'
import { isSessionHeld, unless } from '../../ground/database/holds.ts'

export type CheckpointRow = Tables['checkpoints']

const one = (db: Reads, tenant: string, session: string) =>
  db
    .selectFrom('checkpoints')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', session)

const findForUpdate = (
  tx: Queries,
  tenant: string,
  session: string,
): Promise<CheckpointRow | undefined> => forUpdate(tx, one(tx, tenant, session)).executeTakeFirst()

function checkpointReads(db: Reads) {
  return {
    row: (tenant: string, session: string): Promise<CheckpointRow | undefined> =>
      one(db, tenant, session).executeTakeFirst(),

    /** Checkpoints of all tenants that were stored before the time. */
    takenBefore: (at: string, limit: number): Promise<CheckpointRow[]> =>
      db
        .selectFrom('checkpoints')
        .selectAll()
        .where('taken_at', '<', at)
        .where(unless(isSessionHeld('checkpoints.tenant_id', 'checkpoints.session_id')))
        .orderBy('taken_at')
        .limit(limit)
        .execute(),
  }
}

function checkpointWrites(db: Queries) {
  return {
    /** Like `row`, and locks the row until the transaction ends. */
    findForUpdate: (tenant: string, session: string) => findForUpdate(db, tenant, session),

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

    /**
     * Gives a fork the checkpoint of the session that it comes from; null: it comes from a working folder without one.
     */
    async give(
      tenant: string,
      session: string,
      folder: string,
      from: PastCheckpoint | null,
    ): Promise<void> {
      const { seq: _, ...parts } = from ?? { seq: 0, ...none }
      const row = { ...parts, tenant_id: tenant, session_id: session, folder }
      await db.insertInto('checkpoints').values(row).execute()
    },

    async put(tenant: string, session: string, parts: Parts | null, at: string): Promise<void> {
      await db
        .updateTable('checkpoints')
        .set(parts ? { ...toCheckpointColumns(parts), taken_at: at } : none)
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },

    /** Removes the row of a deleted session and marks its archives for removal. */
    async remove(tenant: string, session: string, now: number): Promise<void> {
      const row = await findForUpdate(db, tenant, session)
      if (!row) return
      await markAll(db, tenant, keysOf(row), now)
      await pastStore(db).remove(tenant, session, now)
      await db
        .deleteFrom('checkpoints')
        .where('tenant_id', '=', tenant)
        .where('session_id', '=', session)
        .execute()
    },
  }
}

/** For each session: where its working folder was used last, and its checkpoint. */
export const checkpointStore = defineStore(checkpointReads, checkpointWrites)

const none = {
  base_key: null,
  base_size: null,
  base_sha256: null,
  delta_key: null,
  delta_size: null,
  delta_sha256: null,
  taken_at: null,
}

/** The archives of a row. */
export const keysOf = ({ base_key, delta_key }: CheckpointRow): string[] =>
  [base_key, delta_key].flatMap((key) => key ?? [])

/** True when a checkpoint of any session has this archive. */
export async function heldByCheckpoint(tx: Queries, tenant: string, key: string): Promise<boolean> {
  if (!key.startsWith('checkpoints/')) return false
  for (const table of ['checkpoints', 'past_checkpoints'] as const)
    for (const column of ['base_key', 'delta_key'] as const) {
      const rows = tx.selectFrom(table).select('session_id').where('tenant_id', '=', tenant)
      if (await rows.where(column, '=', key).limit(1).executeTakeFirst()) return true
    }
  return false
}
