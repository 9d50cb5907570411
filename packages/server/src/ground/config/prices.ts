/** The operator's prices: JSON that names models, or the path of a file with it. */
import { readFileSync } from 'node:fs'
import { parseObject } from '@steward/base/json-object.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import { wholePrice } from '@steward/model/price.ts'

const kinds = ['input', 'output', 'cacheRead', 'cacheWrite']
const mostDollars = 1_000_000

/** Reads the table, or its problem. `setting`: JSON, or the path of its file. */
export function readPrices(setting: string | undefined): PriceTable | { problem: string } {
  if (setting === undefined) return new Map()
  const isInline = setting.trimStart().startsWith('{')
  const path = isInline ? 'its value' : setting
  let given: Record<string, unknown>
  try {
    given = parseObject(isInline ? setting : readFileSync(setting, 'utf8'))
  } catch (error) {
    return { problem: `${path} is no readable JSON object (${String(error)})` }
  }
  return tableOf(given, path)
}

function tableOf(given: Record<string, unknown>, path: string): PriceTable | { problem: string } {
  const table = new Map<string, Price | null>()
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
