/** What requests of `/v1/messages` use. Each has a row while it runs, so that a process that dies leaves it to be counted. */
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import type { Usage } from '@steward/model/model.ts'
import type { Price } from '@steward/model/price.ts'
import { computeCost } from '@steward/model/price.ts'
import { sql } from 'kysely'
import { fromJson, toJson } from '../../../ground/core/text/json-text.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { defineStore } from '../../../ground/database/store-of.ts'
import type { Tables } from '../../../ground/database/tables.ts'
import { usageSums } from '../store.ts'

export type MessageRequestRow = Tables['message_requests']
type MessageUsageRow = Tables['message_usage']

export const priceText = (price: Price | null): MessageRequestRow['price'] =>
  price ? toJson(price) : ''
const priceIn = (text: MessageRequestRow['price']): Price | null =>
  text === '' ? null : fromJson(text)

/** Millionths of a US dollar; 0 without a price. */
export function costOfRequest(usage: Usage, price: Price | null): number {
  return price ? computeCost(usage, price) : 0
}

const isNothing = (usage: Usage): boolean => Object.values(usage).every((count) => count === 0)

function messageUsageReads(db: Reads) {
  return {
    /** Across tenants: the requests of other processes than `self`, oldest first. */
    ofOthers: (self: string, most: number): Promise<MessageRequestRow[]> =>
      db
        .selectFrom('message_requests')
        .selectAll()
        .where('owner', '<>', self)
        .orderBy('begun_ms')
        .limit(most)
        .execute(),
  }
}

function messageUsageWrites(db: Queries) {
  async function add(row: MessageUsageRow): Promise<void> {
    await db
      .insertInto('message_usage')
      .values(row)
      .onConflict((on) =>
        on
          .columns(['tenant_id', 'hour_ms', 'api_key_id', 'model', 'price'])
          .doUpdateSet(
            Object.fromEntries(
              usageSums.map((name) => [name, sql`message_usage.${sql.ref(name)} + ${row[name]}`]),
            ),
          ),
      )
      .execute()
  }

  return {
    async begin(row: MessageRequestRow): Promise<void> {
      await db.insertInto('message_requests').values(row).execute()
    },

    /** Counts what the request used, once: false when another has ended it. */
    async end(row: MessageRequestRow, usage: Usage): Promise<boolean> {
      const { tenant_id, id, api_key_id, model, price, begun_ms } = row
      const { numDeletedRows } = await db
        .deleteFrom('message_requests')
        .where('tenant_id', '=', tenant_id)
        .where('id', '=', id)
        .executeTakeFirst()
      if (numDeletedRows === 0n) return false
      if (isNothing(usage)) return true
      await add({
        tenant_id,
        api_key_id,
        model,
        price,
        hour_ms: begun_ms - (begun_ms % hourMs),
        ...usage,
        requests: 1,
        list_cost: costOfRequest(usage, priceIn(price)),
      })
      return true
    },

    /** Sums the hours of a day into its first hour. */
    async sumDay(tenant: string, dayStartMs: number): Promise<void> {
      const rows = await db
        .deleteFrom('message_usage')
        .where('tenant_id', '=', tenant)
        .where('hour_ms', '>', dayStartMs)
        .where('hour_ms', '<', dayStartMs + dayMs)
        .returningAll()
        .execute()
      for (const row of rows) await add({ ...row, ...numbersOf(row), hour_ms: dayStartMs })
    },
  }
}

/** Postgres gives large numbers as texts. */
const numbersOf = (row: MessageUsageRow) =>
  Object.fromEntries(usageSums.map((name) => [name, Number(row[name])])) as Pick<
    MessageUsageRow,
    (typeof usageSums)[number]
  >

export const messageUsageStore = defineStore(messageUsageReads, messageUsageWrites)
