/** The operator's prices: a JSON file that names models. */
import { readFileSync } from 'node:fs'
import { parseObject } from '@steward/base/json-object.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import { wholePrice } from '@steward/model/price.ts'

const kinds = ['input', 'output', 'cacheRead', 'cacheWrite']
const mostDollars = 1_000_000

/** Reads the table of a file, or the problem of the file. */
export function readPrices(path: string | undefined): PriceTable | { problem: string } {
  if (path === undefined) return new Map()
  const table = new Map<string, Price | null>()
  let given: Record<string, unknown>
  try {
    given = parseObject(readFileSync(path, 'utf8'))
  } catch (error) {
    return { problem: `${path} is no readable JSON object (${String(error)})` }
  }
  for (const [model, value] of Object.entries(given)) {
    const price = value === null ? null : priceIn(value)
    if (price === undefined)
      return {
        problem: `"${model}" in ${path} must be null or an object with input and output, and with cacheRead and cacheWrite where they differ: each a number from 0 to ${mostDollars}, in US dollars for a million tokens`,
      }
    table.set(model, price)
  }
  return table
}

function priceIn(value: unknown): Price | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const isPrice = Object.entries(value).every(
    ([kind, each]) =>
      kinds.includes(kind) && typeof each === 'number' && each >= 0 && each <= mostDollars,
  )
  return isPrice ? wholePrice(value) : undefined
}
