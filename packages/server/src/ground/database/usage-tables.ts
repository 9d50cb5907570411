import type { Price } from '@steward/model/price.ts'
import type { Json } from '../core/json-text.ts'

/** US dollars for a million tokens. Empty: the model had no price. */
type CountedPrice = Json<Price> | ''

/** The spending of a session and its budget. Money in millionths of a US dollar (1/10,000 cent). */
export type HeadSpending = {
  /** Cost of all requests that had a price. */
  list_cost: number
  /** 1 once a request of a model without a price was counted. */
  unpriced: number
  model_requests: number
  /** Requests that the search engine has answered. */
  web_searches: number
  /** The hour, the model and the price of the newest request: a trigger adds to their row of `usage_hours`. */
  counted_hour: number | null
  counted_model: string | null
  counted_price: CountedPrice | null
  /** Limit of `list_cost`. Null: the session has no budget and never gets one. */
  budget: number | null
  /** 1 once the webhook event of this budget was enqueued. */
  budget_told: number
  /** 1 when a turn stopped before a model request because the budget was reached. */
  halted: number
}

type UsageSums = {
  tenant_id: string
  model: string
  price: CountedPrice
  agent_id: string
  requests: number
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
  list_cost: number
}

export type UsageTables = {
  /** Usage of an hour (UTC). A row outlives its session and its agent. */
  usage_hours: UsageSums & { hour_ms: number; session_id: string }
  /** Sums of deleted hours by day (UTC). */
  usage_days: UsageSums & { day_ms: number }
}
