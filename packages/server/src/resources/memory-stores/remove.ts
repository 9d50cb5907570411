/** Deletes a store. The first commit hides the store; its rows are removed in small transactions. */
import { iso } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { memoryStoreStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'
import { checkNotHeld } from '../../ground/database/holds.ts'

/** Rows, of up to 100 KB each, that one transaction removes. */
const part = 250

export async function removeStore(
  database: Database,
  { tenant, id, now }: { tenant: string; id: string; now: number },
): Promise<void> {
  await database.write(async (tx) => {
    const kept = await rows(tx, 'memory_stores').getForUpdate(tenant, id)
    await checkNotHeld(tx, tenant, `memory store ${id}`)
    await memoryStoreStore(tx).update(kept, { deleted_at: iso(now) }, now)
    await outbox(tx).put(tenant, ['memory_store.deleted'], { id }, now)
  })
  await removeRows(database, tenant, id)
}

/** Removes the rows of a deleted store. */
export async function removeRows(database: Database, tenant: string, id: string): Promise<void> {
  let isGone = false
  while (!isGone)
    isGone = await database.write((tx) => memoryStoreStore(tx).removePart(tenant, id, part))
}
