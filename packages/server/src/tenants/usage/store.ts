import type { UsageGroup } from '@steward/protocol/usage.ts'
import { sql } from 'kysely'
import type { Reads } from '../../ground/database/database.ts'
import { selectRaw } from '../../ground/database/raw.ts'
import type { Tables } from '../../ground/database/tables.ts'

type Row = Tables['usage_hours']

const sums = [
  'requests',
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'list_cost',
] as const

/** `fromMs` and `untilMs` are whole hours; the hour of `untilMs` is left out. */
type Span = { fromMs: number; untilMs: number; widthMs: number }

export type UsageRow = Pick<Row, (typeof sums)[number]> &
  Partial<Pick<Row, UsageGroup>> & { bucket_ms: number; unpriced: number }

/** What is summed up of the hours of a workspace, in the order of time and of the groups. At most `most` rows. */
export async function readUsage(
  db: Reads,
  tenant: string,
  { fromMs, untilMs, widthMs }: Span,
  groups: readonly UsageGroup[],
  most: number,
): Promise<UsageRow[]> {
  const bucket = sql<number>`hour_ms - hour_ms % ${sql.lit(widthMs)}`
  const names = groups.map((group) => sql.ref(group))
  const listed = names.flatMap((name) => [sql`, `, name])
  const summed = sums.map(
    (name) => sql`, cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`,
  )
  return selectRaw(
    db,
    sql<UsageRow>`
    select ${bucket} as bucket_ms ${sql.join(listed, sql``)} ${sql.join(summed, sql``)},
      max(case when price = '' then 1 else 0 end) as unpriced
    from usage_hours
    where tenant_id = ${tenant} and hour_ms >= ${fromMs} and hour_ms < ${untilMs}
    group by ${bucket} ${sql.join(listed, sql``)}
    order by 1 ${sql.join(listed, sql``)}
    limit ${sql.lit(most)}`,
  )
}
