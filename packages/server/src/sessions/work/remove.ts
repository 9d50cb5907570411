/** Removes the items of a deleted workspace in any state, and notifies the holders of their claims. */
import type { Database } from '../../ground/database/database.ts'
import { notifyLostClaims } from './topics.ts'

const atOnce = 200

export async function removeWork(database: Database, tenant: string): Promise<void> {
  for (;;) {
    const count = await database.write(async (tx) => {
      const gone = await tx
        .deleteFrom('work')
        .where('tenant_id', '=', tenant)
        .where('id', 'in', (eb) =>
          eb.selectFrom('work').select('id').where('tenant_id', '=', tenant).limit(atOnce),
        )
        .returning(['id', 'generation'])
        .execute()
      for (const { id, generation } of gone)
        notifyLostClaims(tx, { work: id, below: generation + 1 })
      return gone.length
    })
    if (count < atOnce) return
  }
}
