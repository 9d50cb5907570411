/** Chooses the price of a model: the card's, the operator's, or the catalog's. */
import type { ModelFacts, ModelSpec } from '@steward/model/spec.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import { wholePrice } from '@steward/model/price.ts'
import type { CardRow } from './store.ts'
import { targetOfCard } from './target.ts'

type PriceSubject = Pick<ModelSpec, 'provider' | 'model' | 'speed' | 'native_config'>

/**
 * `own`: the price of the card. `table`: the operator's prices. The catalog has the price of the standard speed; a
 * price of zero there means that no price is known.
 */
export function findPrice(
  { provider, model, speed, native_config }: PriceSubject,
  own: ModelFacts['cost'],
  table: PriceTable,
): Price | null {
  if (own) return wholePrice(own) ?? null
  const name = [`${provider}/${model}`, model].find((each) => table.has(each))
  if (name !== undefined) return table.get(name) ?? null
  const known = speed === 'fast' ? undefined : wholePrice(native_config?.cost)
  return known && (known.input > 0 || known.output > 0) ? known : null
}

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** The offline model asks nobody and so costs nothing, unless the operator's prices say something else. */
export const priceOfOffline = (table: PriceTable): Price | null =>
  table.get('offline') ?? (table.has('offline') ? null : free)

/** Null also for a card whose model cannot be called. */
export async function priceOfCard(
  { model, card }: CardRow,
  table: PriceTable,
): Promise<Price | null> {
  const target = await targetOfCard({ ...card, model })
  return 'refused' in target ? null : findPrice(target, card.native_config?.cost, table)
}
