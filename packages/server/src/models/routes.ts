import { canonicalProvider, catalog } from '@steward/model/catalog.ts'
import type { ModelInfo as Info } from '@steward/protocol/models.ts'
import {
  CatalogRequest,
  CatalogShown,
  ModelInfo,
  ModelListQuery,
} from '@steward/protocol/models.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import { notFound } from '../core/errors.ts'
import { defaultLimit, pageOf, paging } from '../core/page.ts'
import type { Databases } from '../database/database.ts'
import type { Route } from '../http/route.ts'
import { route } from '../http/route.ts'
import type { FallbackKeys } from '../model-cards/fallback.ts'
import type { CardRow } from '../model-cards/store.ts'
import { factsOf, modelCardStore } from '../model-cards/store.ts'
import { liveModels } from './live.ts'

const callers = ['workspace'] as const
const section = 'Models'

type Deps = { databases: Databases; fallbackKeys: FallbackKeys }

export function modelRoutes({ databases, fallbackKeys }: Deps): Route[] {
  const cards = (tenant: string) => modelCardStore(databases.of(tenant).read)

  return [
    route(
      {
        method: 'get',
        path: '/v1/models',
        callers,
        section,
        summary: 'List the models that the workspace can run',
        query: ModelListQuery,
        answer: ListOf(ModelInfo),
      },
      async ({ tenant, query }) => {
        if (query.lifecycle && !query.lifecycle.includes('active')) {
          return {
            data: [],
            has_more: false,
            next_page: null,
            prev_page: null,
            first_id: null,
            last_id: null,
          }
        }
        const page = await pageAround(tenant, query)
        const shown = pageOf('models', page, await cards(tenant).list(tenant, page), info)
        const ends = {
          first_id: shown.data[0]?.id ?? null,
          last_id: shown.data.at(-1)?.id ?? null,
        }
        return { ...shown, ...ends }
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/models/:id',
        callers,
        section,
        summary: 'Get a model',
        answer: ModelInfo,
      },
      async ({ tenant, params }) => {
        const card = await cards(tenant).named(tenant, params.id)
        if (!card) throw notFound('model', params.id)
        return info(card)
      },
    ),
    route(
      {
        method: 'post',
        path: '/v1/ext/models/list',
        callers,
        section,
        summary: "The built-in catalog of a provider's models",
        body: CatalogRequest,
        answer: CatalogShown,
      },
      async ({ body }) => {
        const provider = canonicalProvider(body.provider)
        if (body.api_key !== undefined) {
          return { provider, data: await liveModels(provider, body.api_key, fallbackKeys) }
        }
        const models = await catalog(provider)
        if (!models) throw notFound('model catalog of provider', body.provider)
        return { provider, data: models }
      },
    ),
  ]

  /** This list pages by ids, `after_id` and `before_id`, which are the handles of cards. */
  async function pageAround(
    tenant: string,
    query: {
      limit?: number | undefined
      after_id?: string | undefined
      before_id?: string | undefined
    },
  ) {
    const handle = query.after_id ?? query.before_id
    if (handle === undefined) return paging('models', query)
    const card = await cards(tenant).named(tenant, handle)
    if (!card) throw notFound('model', handle)
    const side = query.after_id === undefined ? ('before' as const) : ('after' as const)
    return {
      limit: query.limit ?? defaultLimit,
      order: 'desc' as const,
      from: { side, created_at: card.created_at, id: card.id },
    }
  }
}

/** What is not known of a model is not claimed. */
function info(row: CardRow): Info {
  const { display_name, native_config } = factsOf(row)
  const supported = (yes: boolean | undefined) => ({ supported: yes ?? false })
  const input = native_config?.input ?? []
  const thinking = native_config?.reasoning ?? false
  const levels = native_config?.thinkingLevelMap ?? {}
  const level = (name: string) => supported(thinking && levels[name] !== null && name in levels)
  return {
    id: row.model_id,
    type: 'model',
    display_name: display_name ?? native_config?.name ?? row.model,
    created_at: row.created_at,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: native_config?.contextWindow ?? null,
    max_tokens: native_config?.maxTokens ?? null,
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
