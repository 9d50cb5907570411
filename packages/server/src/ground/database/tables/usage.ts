import type { Price } from '@steward/model/price.ts'
import type { Json } from '../../core/text/json-text.ts'
import type { RowFor } from '../table.ts'
import { nullable, number, table, text } from '../table.ts'
import { tokenColumns } from './tokens.ts'

/** US dollars for a million tokens. Empty: the model had no price. */
type CountedPrice = Json<Price> | ''

/** The spending of a session and its budget. Money in millionths of a US dollar (1/10,000 cent). */
export const headSpending = {
  /** Cost of all requests that had a price. */
  list_cost: number(),
  /** 1 once a request of a model without a price was counted. */
  unpriced: number(),
  model_requests: number(),
  /** Requests that the search engine has answered. */
  web_searches: number(),
  /** The hour, the model and the price of the newest request: a trigger adds to their row of `usage_hours`. */
  counted_hour: nullable(number()),
  counted_model: nullable(text()),
  counted_price: nullable(text<CountedPrice>()),
  /** Limit of `list_cost`. Null: the session has no budget and never gets one. */
  budget: nullable(number()),
  /** 1 once the webhook event of this budget was enqueued. */
  budget_told: number(),
  /** 1 when a turn stopped before a model request because the budget was reached. */
  halted: number(),
}
export type HeadSpending = RowFor<typeof headSpending>

const counted = {
  tenant_id: text(),
  model: text(),
  price: text<CountedPrice>(),
  requests: number(),
  ...tokenColumns,
  list_cost: number(),
}
const usageSums = { ...counted, agent_id: text() }

export const usageTables = {
  /** Usage of an hour (UTC). A row outlives its session and its agent. */
  usage_hours: table({
    rows: 'tenant',
    key: ['tenant_id', 'hour_ms', 'session_id', 'model', 'price'],
    columns: {
      hour_ms: number(),
      session_id: text(),
      ...usageSums,
    },
  }),
  /** Sums of deleted hours by day (UTC). */
  usage_days: table({
    rows: 'tenant',
    key: ['tenant_id', 'day_ms', 'model', 'price', 'agent_id'],
    columns: {
      day_ms: number(),
      ...usageSums,
    },
  }),
  /** Requests of `/v1/messages` that run. A row without a living owner is counted by a job. */
  message_requests: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    columns: {
      tenant_id: text(),
      id: text(),
      /** The key, or the person, of the request. */
      api_key_id: text(),
      model: text(),
      price: text<CountedPrice>(),
      /** An estimate. */
      input_tokens: number(),
      begun_ms: number(),
      /** The process that runs the request. */
      owner: text(),
    },
  }),
  /** Usage of `/v1/messages` in an hour (UTC); older usage stands in the first hour of its day. */
  message_usage: table({
    rows: 'tenant',
    key: ['tenant_id', 'hour_ms', 'api_key_id', 'model', 'price'],
    columns: { hour_ms: number(), api_key_id: text(), ...counted },
  }),
}
