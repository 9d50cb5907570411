import { canonicalProvider, listCatalogModels } from '@steward/model/catalog.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import type { ModelInfo as Info } from '@steward/protocol/models.ts'
import {
  CatalogRequest,
  CatalogShown,
  ModelInfo,
  ModelListQuery,
} from '@steward/protocol/models.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { defaultLimit, buildPage, readPaging, wholePage } from '../../ground/core/text/page.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { OperatorModels } from '../../resources/model-cards/fallback.ts'
import { priceOfCard } from '../../resources/model-cards/prices.ts'
import type { CardRow } from '../../resources/model-cards/store.ts'
import { modelCardStore } from '../../resources/model-cards/store.ts'
import type { KnownModel } from './known-models.ts'
import { knownModels, listKnown, unknownTime } from './known-models.ts'
import { liveModels } from './live-models.ts'
import { rows } from '../../ground/database/rows.ts'

const models = section('Models', ['workspace'], '/v1/models')
const listing = section('Models', ['workspace'], '/v1/ext/models/list')

type ModelRouteDeps = OperatorModels & { offlineModel: boolean; prices: PriceTable }

export function modelRoutes({ offlineModel, prices, ...operator }: ModelRouteDeps): Route[] {
  const { fallbackKeys } = operator
  const known = knownModels(operator, offlineModel, prices)
  const priced = async (model: CardRow | KnownModel): Promise<ModelWithPrice> =>
    'model_id' in model ? { ...model, price: await priceOfCard(model, prices) } : model

  /** Lists cards by creation time. Models without a card are older than every card. */
  async function list(
    { db, tenant }: TenantRef,
    page: Paging,
  ): Promise<Listing<CardRow | KnownModel>> {
    const { limit, order, from } = page
    const isBack = from?.side === 'before'
    const ofCards = (part: Paging) => rows(db.read, 'model_cards').list(tenant, part)
    const ofKnown = async (part: Paging) => {
      const all = await known()
      if (all.length === 0) return { rows: [], more: false }
      const shadowed = await modelCardStore(db.read).handles(
        tenant,
        all.map(({ id }) => id),
      )
      return listKnown(
        all.filter(({ id }) => !shadowed.has(id)),
        part,
      )
    }
    // True when this page is read from newer to older models.
    const isDescent = (order === 'desc') !== isBack
    const [near, far] = isDescent ? [ofCards, ofKnown] : [ofKnown, ofCards]
    const startsFar = from !== undefined && (from.created_at === unknownTime) === isDescent
    if (startsFar) return far(page)
    const first = await near(page)
    if (first.more) return first
    const left = limit - first.rows.length
    const part: Paging = { limit: Math.max(left, 1), order }
    // Read backwards, the second list begins behind its last model.
    const id = far === ofCards ? '' : '\u{10ffff}'
    if (isBack) part.from = { side: from.side, created_at: unknownTime, id }
    const second = await far(part)
    if (left === 0) return { rows: first.rows, more: second.rows.length > 0 }
    return { rows: [...first.rows, ...second.rows], more: second.more }
  }

  return [
    models.get(
      '',
      {
        summary: 'List the models that the workspace can run',
        query: ModelListQuery,
        answer: ListOf(ModelInfo),
      },
      async ({ db, tenant, query }) => {
        if (query.lifecycle && !query.lifecycle.includes('active')) return wholePage([])
        const page = await pageAround({ db, tenant }, query)
        const { rows, more } = await list({ db, tenant }, page)
        const shown = buildPage(
          'models',
          page,
          { rows: await Promise.all(rows.map(priced)), more },
          info,
        )
        const ends = {
          first_id: shown.data[0]?.id ?? null,
          last_id: shown.data.at(-1)?.id ?? null,
        }
        return { ...shown, ...ends }
      },
    ),
    models.get(
      '/:id',
      { summary: 'Get a model', answer: ModelInfo },
      async ({ db, tenant, params }) => {
        return info(await priced(await named({ db, tenant }, params.id)))
      },
    ),
    listing.post(
      '',
      {
        summary: "List a provider's models in the built-in catalog",
        description:
          'Asks nobody. With `api_key`, which is deprecated, the two providers with short names are asked for their list. A provider that the service does not know has no catalog.',
        body: CatalogRequest,
        answer: CatalogShown,
      },
      async ({ body }) => {
        const provider = canonicalProvider(body.provider)
        if (body.api_key !== undefined) {
          return { provider, data: await liveModels(provider, body.api_key, fallbackKeys) }
        }
        const models = await listCatalogModels(provider)
        if (!models) throw notFound('model catalog of provider', body.provider)
        return { provider, data: models }
      },
    ),
  ]

  async function named({ db, tenant }: TenantRef, id: string): Promise<CardRow | KnownModel> {
    const card = await modelCardStore(db.read).named(tenant, id)
    const found = card ?? (await known()).find((each) => each.id === id)
    if (!found) throw notFound('model', id)
    return found
  }

  /** Reads a page around `after_id` or `before_id`, which are model handles. */
  async function pageAround(
    caller: TenantRef,
    query: {
      limit?: number | undefined
      after_id?: string | undefined
      before_id?: string | undefined
    },
  ) {
    const handle = query.after_id ?? query.before_id
    if (handle === undefined) return readPaging('models', query)
    const { id, created_at } = await named(caller, handle)
    const side = query.after_id === undefined ? ('before' as const) : ('after' as const)
    return {
      limit: query.limit ?? defaultLimit,
      order: 'desc' as const,
      from: { side, created_at, id },
    }
  }
}

type ModelWithPrice = (CardRow & { price: Price | null }) | KnownModel

function factsShown(model: CardRow | Omit<KnownModel, 'price'>) {
  if (!('model_id' in model)) return model
  const { display_name, native_config } = model.card
  const name = display_name ?? native_config?.name ?? model.model
  return { id: model.model_id, display_name: name, native_config }
}

/** A property of a model that is unknown is left out. */
function info({ price, ...model }: ModelWithPrice): Info {
  const { id, display_name, native_config } = factsShown(model)
  const supported = (yes: boolean | undefined) => ({ supported: yes ?? false })
  const input = native_config?.input ?? []
  const thinking = native_config?.reasoning ?? false
  const levels = native_config?.thinkingLevelMap ?? {}
  const level = (name: string) => supported(thinking && levels[name] !== null && name in levels)
  return {
    id,
    type: 'model',
    display_name,
    created_at: model.created_at,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: native_config?.contextWindow ?? null,
    max_tokens: native_config?.maxTokens ?? null,
    list_price: price && {
      input: price.input,
      output: price.output,
      cache_read: price.cacheRead,
      cache_write: price.cacheWrite,
    },
    allowed_fallback_models: null,
    capabilities: {
      batch: supported(false),
      citations: supported(false),
      code_execution: supported(false),
      image_input: supported(input.includes('image')),
      pdf_input: supported(input.includes('document')),
      structured_outputs: supported(false),
      effort: {
        ...supported(thinking),
        low: level('low'),
        medium: level('medium'),
        high: level('high'),
        max: level('max'),
        xhigh: level('xhigh'),
      },
      thinking: {
        ...supported(thinking),
        types: {
          adaptive: supported(false),
          between_tools: supported(false),
          disabled: supported(true),
          enabled: supported(thinking),
        },
      },
      context_management: {
        ...supported(false),
        clear_thinking_20251015: null,
        clear_tool_uses_20250919: null,
        compact_20260112: null,
      },
      server_tools: {
        ...supported(false),
        code_execution: supported(false),
        web_search: supported(false),
      },
    },
  }
}
