import type { Price } from '@steward/model/price.ts'
import type { Json } from '../core/json-text.ts'

/** US dollars for a million tokens. Empty: the model had no price. */
type CountedPrice = Json<Price> | ''

/** What a session has spent, and may spend. Money in millionths of a US dollar, which are 1/10,000 cent. */
export type HeadSpending = {
  /** Of all requests that had a price. */
  list_cost: number
  /** 1 once a request was counted whose model had no price. */
  unpriced: number
  model_requests: number
  /** The hour, the model and the price of the newest request: a trigger adds to their row of `usage_hours`. */
  counted_hour: number | null
  counted_model: string | null
  counted_price: CountedPrice | null
  /** Most that `list_cost` may become. Null: no budget, and never one again. */
  budget: number | null
  /** 1 once the webhook of this budget was told. */
  budget_told: number
  /** 1 where a turn was left before a model request, because the budget was reached. */
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
  /** What was used in an hour (UTC). It outlives its session and its agent. */
  usage_hours: UsageSums & { hour_ms: number; session_id: string }
  /** Sums of the hours that were removed, by days (UTC). */
  usage_days: UsageSums & { day_ms: number }
}
