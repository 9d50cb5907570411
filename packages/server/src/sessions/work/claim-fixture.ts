/** For tests: a claim, and the items that it has ended because workers left them too often. */
import type { Database } from '../../ground/database/database.ts'
import { withHeardNotices } from '../../ground/database/fixture.ts'
import { claimNext } from './queue.ts'
import { workStore } from './store.ts'

type Ask = Parameters<typeof claimNext>

/** `ended`: the items, whose holders were notified as those of the claimed item were. */
export async function claimOrEnd(
  database: Database,
  ...[tenant, environment, at]: [Ask[1], Ask[2], Ask[3]]
) {
  const { database: listened, heard } = withHeardNotices(database)
  const item = await claimNext(listened, tenant, environment, at)
  const ids = heard.flatMap(({ topic, message: { work } }) =>
    topic === 'claims' && work !== item?.id ? String(work) : [],
  )
  const store = workStore(database.read)
  return { item, ended: await Promise.all(ids.map((id) => store.row(tenant, environment, id))) }
}
