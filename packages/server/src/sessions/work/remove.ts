/** Removes the items of a deleted workspace in any state, and notifies the holders of their claims. */
import type { Bus } from '../../ground/bus/bus.ts'
import type { Database } from '../../ground/database/database.ts'
import { notifyLostClaims } from './topics.ts'

const atOnce = 200

export async function removeWork(database: Database, bus: Bus, tenant: string): Promise<void> {
  for (;;) {
    const gone = await database.write((tx) =>
      tx
        .deleteFrom('work')
        .where('tenant_id', '=', tenant)
        .where('id', 'in', (eb) =>
          eb.selectFrom('work').select('id').where('tenant_id', '=', tenant).limit(atOnce),
        )
        .returning(['id', 'generation'])
        .execute(),
    )
    for (const { id, generation } of gone)
      notifyLostClaims(bus, { work: id, below: generation + 1 })
    if (gone.length < atOnce) return
  }
}
