import type { Usage } from '@steward/model/model.ts'
import type { Price } from '@steward/model/price.ts'
import { computeCost } from '@steward/model/price.ts'
import type { UsageGroup } from '@steward/protocol/usage.ts'
import { sql } from 'kysely'
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { lockAdvisory } from '../../ground/database/lock.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { selectRaw } from '../../ground/database/select-raw.ts'
import type { Tables } from '../../ground/database/tables.ts'

type UsageHourRow = Tables['usage_hours']

export const usageSums = [
  'requests',
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'list_cost',
] as const

/** Columns that rows of hours and rows of days have. */
const kept = ['model', 'price', 'agent_id', ...usageSums] as const

/** Largest number of results of a report. */
export const mostUsageRows = 10_000

/** `fromMs` and `untilMs` are whole hours; the hour of `untilMs` is left out. */
type UsageSpan = { fromMs: number; untilMs: number; widthMs: number }

export type UsageRow = Pick<UsageHourRow, (typeof usageSums)[number]> &
  Partial<Pick<UsageHourRow, Exclude<UsageGroup, 'api_key_id'>>> & {
    api_key_id?: string
    bucket_ms: number
    unpriced: number
  }

/** Sums hours and older days of a workspace by bucket and groups, in that order; at most `most` rows. */
export async function readUsage(
  db: Reads,
  tenant: string,
  { fromMs, untilMs, widthMs }: UsageSpan,
  groups: readonly UsageGroup[],
  most: number,
): Promise<UsageRow[]> {
  const bucket = sql<number>`hour_ms - hour_ms % ${sql.lit(widthMs)}`
  const names = groups.map((group) => sql.ref(group))
  const listed = names.flatMap((name) => [sql`, `, name])
  const summed = usageSums.map(
    (name) => sql`, cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`,
  )
  return selectRaw(
    db,
    sql<UsageRow>`
    select ${bucket} as bucket_ms ${sql.join(listed, sql``)} ${sql.join(summed, sql``)},
      max(case when price = '' then 1 else 0 end) as unpriced
    from (
      select hour_ms, session_id, '' as api_key_id, ${sql.join(kept.map((name) => sql.ref(name)))} from usage_hours
        where tenant_id = ${tenant} and hour_ms >= ${fromMs} and hour_ms < ${untilMs}
      union all
      select day_ms, '', '', ${sql.join(kept.map((name) => sql.ref(name)))} from usage_days
        where tenant_id = ${tenant} and day_ms >= ${fromMs} and day_ms < ${untilMs}
      union all
      select hour_ms, '', api_key_id, model, price, '', ${sql.join(usageSums.map((name) => sql.ref(name)))}
        from message_usage
        where tenant_id = ${tenant} and hour_ms >= ${fromMs} and hour_ms < ${untilMs}
    ) as used
    group by ${bucket} ${sql.join(listed, sql``)}
    order by 1 ${sql.join(listed, sql``)}
    limit ${sql.lit(most)}`,
  )
}

function usageReads(db: Reads) {
  return {
    /** Across tenants: days with rows of hours before `untilMs`, which is the beginning of a day. */
    daysBefore: (untilMs: number, most: number): Promise<{ tenant_id: string; day_ms: number }[]> =>
      selectRaw(
        db,
        sql<{ tenant_id: string; day_ms: number }>`
        select tenant_id, hour_ms - hour_ms % ${sql.lit(dayMs)} as day_ms from usage_hours
          where hour_ms < ${untilMs}
        union
        select tenant_id, hour_ms - hour_ms % ${sql.lit(dayMs)} from message_usage
          where hour_ms < ${untilMs} and hour_ms % ${sql.lit(dayMs)} <> 0
        order by 2, 1 limit ${sql.lit(most)}`,
      ),
  }
}

type ProbeRequest = { model: string; usage: Usage; price: Price | null; now: number }

function usageWrites(db: Queries) {
  return {
    /** Counts the request that probed a model card; it has no session and no agent. */
    async addProbe(tenant: string, { model, usage, price, now }: ProbeRequest): Promise<void> {
      const list_cost = price ? computeCost(usage, price) : 0
      const counts: Pick<UsageHourRow, (typeof usageSums)[number]> = {
        ...usage,
        requests: 1,
        list_cost,
      }
      await db
        .insertInto('usage_hours')
        .values({
          ...counts,
          tenant_id: tenant,
          hour_ms: now - (now % hourMs),
          session_id: '',
          agent_id: '',
          model,
          price: price ? toJson(price) : '',
        })
        .onConflict((on) =>
          on
            .columns(['tenant_id', 'hour_ms', 'session_id', 'model', 'price'])
            .doUpdateSet(
              Object.fromEntries(
                usageSums.map((name) => [
                  name,
                  sql`usage_hours.${sql.ref(name)} + ${counts[name]}`,
                ]),
              ),
            ),
        )
        .execute()
    },

    /** Sums the hours of a day by model, price and agent. Sessions are no longer distinguished. */
    async sumDay(tenant: string, dayStartMs: number): Promise<void> {
      // Another server that sums up the day sees its hours until they are deleted.
      await lockAdvisory(db, `${tenant}/usage/${dayStartMs}`)
      const names = sql.join(kept.map((name) => sql.ref(name)))
      const summed = usageSums.map((name) => sql`cast(sum(${sql.ref(name)}) as bigint)`)
      const added = usageSums.map(
        (name) => sql`${sql.ref(name)} = usage_days.${sql.ref(name)} + excluded.${sql.ref(name)}`,
      )
      const hours = sql`from usage_hours where tenant_id = ${tenant}
        and hour_ms >= ${dayStartMs} and hour_ms < ${dayStartMs + dayMs}`
      await sql`insert into usage_days (tenant_id, day_ms, ${names})
        select ${tenant}, cast(${dayStartMs} as bigint), model, price, agent_id, ${sql.join(summed)} ${hours}
        group by model, price, agent_id
        on conflict (tenant_id, day_ms, model, price, agent_id) do update set ${sql.join(added)}`.execute(
        db,
      )
      await sql`delete ${hours}`.execute(db)
    },
  }
}

export const usageStore = defineStore(usageReads, usageWrites)
