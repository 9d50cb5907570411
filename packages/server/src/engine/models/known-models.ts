/**
 * Models that run without a model card: the offline model, and the catalog models that the operator's keys, clouds and
 * gateways serve.
 */
import { runOnce } from '@steward/base/shared-runs.ts'
import { listCatalogModels, findModel } from '@steward/model/catalog.ts'
import { offlineModel } from '@steward/model/offline.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import type { ModelFacts } from '@steward/model/spec.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import type { OperatorModels } from '../../resources/model-cards/fallback.ts'
import { providerOf } from '../../resources/model-cards/fallback.ts'
import { findPrice, priceOfOffline } from '../../resources/model-cards/prices.ts'

export type KnownModel = {
  id: string
  created_at: string
  display_name: string
  native_config: ModelFacts
  /** What usage counts with. */
  price: Price | null
}

/** The release time of a model is unknown. This time sorts before every card. */
export const unknownTime = '1970-01-01T00:00:00.000Z'

export type KnownModels = () => Promise<readonly KnownModel[]>

/** Ordered by id. The catalog is read once. */
export const knownModels = (
  operator: OperatorModels,
  hasOffline: boolean,
  prices: PriceTable,
): KnownModels => runOnce(() => read(operator, hasOffline, prices))

async function read(
  { fallbackKeys, modelProviders }: OperatorModels,
  hasOffline: boolean,
  prices: PriceTable,
): Promise<readonly KnownModel[]> {
  const makers = ['anthropic', 'openai', 'google'] as const
  const found = await Promise.all(
    makers.map(async (maker) => {
      if (!fallbackKeys[maker] && modelProviders.length === 0) return []
      const models = await ofProvider(maker, prices)
      return models.filter(({ id }) => fallbackKeys[maker] ?? providerOf(modelProviders, id))
    }),
  )
  const all = [...(hasOffline ? [offline(prices)] : []), ...found.flat()]
  return all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** The catalog models of a provider that a plain identifier names. */
async function ofProvider(provider: string, prices: PriceTable): Promise<KnownModel[]> {
  const models = (await listCatalogModels(provider)) ?? []
  const targets = await Promise.all(models.map(({ id }) => findModel(id)))
  return models.flatMap(({ id, display_name }, index) => {
    const target = targets[index]
    if (target?.provider !== provider) return []
    const price = findPrice(target, undefined, prices)
    const { native_config = {} } = target
    return [{ id, display_name, created_at: unknownTime, native_config, price }]
  })
}

function offline(prices: PriceTable): KnownModel {
  const { contextWindow, maxOutputTokens, input } = offlineModel({ thinkMs: 0 })
  return {
    id: 'offline',
    created_at: unknownTime,
    display_name: 'Offline model',
    native_config: { contextWindow, maxTokens: maxOutputTokens, input: [...input] },
    price: priceOfOffline(prices),
  }
}

/** One page of the models, in the order of a table's page: backwards before an id. */
export function listKnown(
  known: readonly KnownModel[],
  { limit, order, from }: Paging,
): Listing<KnownModel> {
  const isBack = from?.side === 'before'
  const isRising = (order === 'asc') !== isBack
  const sorted = isRising ? known : known.toReversed()
  const behind = sorted.filter(({ id }) => !from || (isRising ? id > from.id : id < from.id))
  return { rows: behind.slice(0, limit), more: behind.length > limit }
}
