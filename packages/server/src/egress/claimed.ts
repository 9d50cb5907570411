/** Whether a worker's claim is still its own, as the stored item has it at this moment. */
import type { Clock } from '../core/time.ts'
import type { Databases } from '../database/database.ts'
import { standing } from '../work/item.ts'
import { workStore } from '../work/store.ts'
import type { Binding, Claim } from './binding.ts'

export function standsOf(
  databases: Databases,
  clock: Clock,
  { tenant, session }: Pick<Binding, 'tenant' | 'session'>,
  { environmentId, workId, generation }: Claim,
): () => Promise<boolean> {
  return async () => {
    const item = await workStore(databases.of(tenant).read).find(tenant, environmentId, workId)
    if (item?.session_id !== session) return false
    return standing(item, generation, clock.now()) === 'current'
  }
}
