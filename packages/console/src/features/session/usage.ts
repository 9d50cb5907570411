/** What the tokens of a session cost: of each kind its number, times the price of a million. */
import type { Model, Session } from '../../lib/api/types.ts'

type ListPrice = NonNullable<Model['list_price']>

export type Charge = {
  kind: 'input' | 'cacheRead' | 'cacheWritten' | 'output'
  tokens: number
  /** Dollars. Undefined where the price is not known. */
  ofMillion: number | undefined
  dollars: number | undefined
}

const million = 1_000_000

export function chargesOf(
  usage: Session['usage'],
  price: ListPrice | undefined,
): { charges: Charge[]; sum: number | undefined } {
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation
  const counted = [
    ['input', usage.input_tokens, price?.input],
    ['cacheRead', usage.cache_read_input_tokens, price?.cache_read],
    ['cacheWritten', short + long, price?.cache_write],
    ['output', usage.output_tokens, price?.output],
  ] as const
  const charges = counted.map(([kind, tokens, ofMillion]) => ({
    kind,
    tokens,
    ofMillion,
    dollars: ofMillion === undefined ? undefined : (tokens * ofMillion) / million,
  }))
  const sum = price && charges.reduce((all, { dollars }) => all + (dollars ?? 0), 0)
  return { charges, sum }
}

/** The service counts in cents, rounded once: what differs by more has another reason. */
const rounded = 0.005 + 1e-9

export const isSumOf = (sum: number, cost: number | undefined): boolean =>
  cost !== undefined && Math.abs(sum - cost) <= rounded
