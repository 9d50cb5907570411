/** The cost of model requests. Money is a whole number of millionths of a US dollar, which are 1/10,000 cent. */
import type { Usage } from './model.ts'
import type { ModelFacts } from './spec.ts'

/** US dollars for a million tokens. */
export type Price = { input: number; output: number; cacheRead: number; cacheWrite: number }

/** Prices by `provider/model` or by model. Null: the model has no price. */
export type PriceTable = ReadonlyMap<string, Price | null>

/** A price without prices for a cache counts cached tokens as input. Undefined: no price. */
export function wholePrice(cost: ModelFacts['cost']): Price | undefined {
  if (cost?.input === undefined || cost.output === undefined) return undefined
  const { input, output, cacheRead = input, cacheWrite = input } = cost
  return { input, output, cacheRead, cacheWrite }
}

/** Dollars for a million tokens equal millionths of a dollar for one token. This factor keeps six more digits exact. */
const scale = 1_000_000

/**
 * Ten million dollars. A tenant's endpoint reports the used tokens, and the tenant sets their price. Up to this bound
 * the databases add and read the sums exactly.
 */
export const mostCost = 1e13

/** The cost of a request, rounded half up once, and at most `mostCost`. */
export function computeCost(usage: Usage, price: Price): number {
  const tokens = [
    [usage.input_tokens, price.input],
    [usage.output_tokens, price.output],
    [usage.cache_read_input_tokens, price.cacheRead],
    [usage.cache_creation_input_tokens, price.cacheWrite],
  ] as const
  const scaled = tokens.reduce(
    (sum, [count, each]) => sum + BigInt(count) * BigInt(Math.round(each * scale)),
    0n,
  )
  return Math.min(Number((scaled + BigInt(scale / 2)) / BigInt(scale)), mostCost)
}
