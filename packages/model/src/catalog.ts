/** The catalog: which provider serves a model, over which wire, at which URL, and the model's properties. */
import { runOnceEach } from '@steward/base/shared-runs.ts'
import { type EffortLevel, supportedLevels } from './effort.ts'
import { cloudTypes } from './cloud/access.ts'
import { isWire, type ModelSpec, type ModelFacts, refuseModel } from './spec.ts'
import { nearestName } from '@steward/base/nearest-name.ts'
import { cataloguedProviders, isCatalogued, loadCatalog } from './wire/pi.ts'

export type CatalogModel = {
  id: string
  display_name: string
  api: string
  base_url: string
  /** Size of the context in tokens. */
  context_window: number
  max_output_tokens: number
  input: string[]
  reasoning: boolean
  /** Supported levels of effort, from low to high. */
  efforts: EffortLevel[]
}

/** A model and how to reach it. Together with a key it is a `ModelSpec`. */
export type ModelTarget = Pick<
  ModelSpec,
  'provider' | 'api' | 'model' | 'base_url' | 'native_config' | 'cloud'
>

export type CatalogCard = {
  provider: string
  model: string
  base_url?: string
  native_config?: ModelFacts
}

type CatalogFacts = ModelTarget & { native_config: ModelFacts }

/** Short names of two providers. The `compatible` names are other providers' endpoints that speak the same wire. */
const plainAliases = new Map([
  ['ant', 'anthropic'],
  ['oai', 'openai'],
])
const compatible = new Map([
  ['ant-compatible', { family: 'anthropic', api: 'anthropic-messages' }],
  ['oai-compatible', { family: 'openai', api: 'openai-completions' }],
])

export function isLegacyFamily(provider: string): boolean {
  return ['anthropic', 'openai'].includes(canonicalProvider(provider)) || compatible.has(provider)
}

/** The name under which a provider's models are listed and stored in messages. */
export function canonicalProvider(provider: string): string {
  return plainAliases.get(provider) ?? provider
}

/** The built-in models of a provider that can be called here; undefined when the provider has no catalog. */
export async function listCatalogModels(provider: string): Promise<CatalogModel[] | undefined> {
  const facts = await factsOf(canonicalProvider(provider))
  return facts
    ?.filter(({ api }) => isWire(api))
    .map(({ model, api, base_url, native_config }) => ({
      id: model,
      display_name: native_config.name ?? model,
      api,
      base_url,
      context_window: native_config.contextWindow ?? 0,
      max_output_tokens: native_config.maxTokens ?? 0,
      input: native_config.input ?? ['text'],
      reasoning: native_config.reasoning ?? false,
      efforts: supportedLevels(native_config),
    }))
}

/**
 * Resolves the model of a card, or returns a sentence that says why it cannot be used. The card's own description
 * overrides the catalog's.
 */
export async function resolveModel(card: CatalogCard): Promise<ModelTarget | { refused: string }> {
  const provider = canonicalProvider(card.provider)
  const { known, endpoints, familyApi } = await shelfOf(provider)
  const { api: asked, ...described } = card.native_config ?? {}
  const own = sameModel(known, card.model)
  const spoken = (own ?? mostCommon(known))?.api
  const api = asked ?? familyApi ?? spokenElsewhere.get(spoken ?? '')?.api ?? spoken
  if (api === undefined) {
    return { refused: unknownProvider(card.provider) }
  }
  const base_url =
    card.base_url || (usualEndpoint(endpoints, card, api) ?? endpointBeside(endpoints, api))
  if (base_url === undefined)
    return { refused: `base_url: is required for provider '${card.provider}'` }
  const native_config = merge(factsFor(api, own), described)
  const target: ModelTarget = { provider, api, model: card.model, base_url, native_config }
  const refused = refuseModel(target)
  return refused === undefined ? target : { refused }
}

/** Wires that are not spoken here, and the wire that their providers speak as well. `path`: behind the host. */
const spokenElsewhere = new Map([
  ['mistral-conversations', { api: 'openai-completions', path: '/v1' }],
])

/** The endpoint of a provider for the wire that it speaks besides the one of its catalog. */
function endpointBeside(known: CatalogFacts[], api: string): string | undefined {
  for (const facts of known) {
    const beside = spokenElsewhere.get(facts.api)
    if (beside?.api === api) return new URL(beside.path, facts.base_url).href
  }
  return undefined
}

/** Names that people use for providers with another name here, or for servers of their own. */
const otherNames = new Map([
  ['gemini', 'google'],
  ['grok', 'xai'],
  ['kimi', 'moonshotai'],
  ['claude', 'anthropic'],
  ['gpt', 'openai'],
  ['hugging-face', 'huggingface'],
  ['amazon-bedrock', 'bedrock'],
  ['google-vertex', 'vertex'],
  ['azure-foundry', 'foundry'],
  ['gateway', 'ant-compatible'],
  ...['ollama', 'vllm', 'lmstudio', 'llama.cpp', 'localai', 'azure'].map(
    (name) => [name, 'oai-compatible'] as const,
  ),
])

function unknownProvider(provider: string): string {
  const names = [
    ...plainAliases.keys(),
    ...compatible.keys(),
    ...cloudTypes,
    ...cataloguedProviders(),
  ]
  const meant = otherNames.get(provider.toLowerCase()) ?? nearestName(provider.toLowerCase(), names)
  const hint = meant === undefined ? '' : ` Do you mean ${meant}?`
  return `provider: '${provider}' is not known.${hint} The names are ${names.toSorted().join(', ')}. For a server that speaks the wire of OpenAI take oai-compatible with base_url, or name the wire by native_config.api`
}

type ProviderShelf = { known: CatalogFacts[]; endpoints: CatalogFacts[]; familyApi?: string }

async function shelfOf(provider: string): Promise<ProviderShelf> {
  const elsewhere = compatible.get(provider)
  const known = (await factsOf(elsewhere?.family ?? provider)) ?? []
  if (elsewhere === undefined) return { known, endpoints: known }
  return { known, endpoints: [], familyApi: elsewhere.api }
}

function usualEndpoint(known: CatalogFacts[], card: CatalogCard, api: string): string | undefined {
  const served = known.filter((facts) => facts.api === api)
  return (sameModel(served, card.model) ?? served[0])?.base_url
}

/** Finds the provider of a plain model identifier: by the model's name, or as `provider/model`. */
export async function findModel(id: string): Promise<ModelTarget | undefined> {
  const slash = id.indexOf('/')
  if (slash > 0) {
    const found = await resolveModel({ provider: id.slice(0, slash), model: id.slice(slash + 1) })
    return 'refused' in found ? undefined : found
  }
  const provider = makers.find(([pattern]) => pattern.test(id))?.[1]
  if (provider === undefined) return undefined
  const found = await resolveModel({ provider, model: id })
  return 'refused' in found ? undefined : found
}

const makers: [RegExp, string][] = [
  [/^claude-/, 'anthropic'],
  [/^(gpt-|chatgpt-|o\d)/, 'openai'],
  [/^(gemini|gemma)-/, 'google'],
  [/^grok-/, 'xai'],
  [/^deepseek-/, 'deepseek'],
  [/^kimi-/, 'moonshotai'],
  [/^glm-/, 'zai'],
]

/** The model of this name, or the model that this name denotes with a date or `latest`. */
function sameModel(known: CatalogFacts[], id: string): CatalogFacts | undefined {
  const bare = id.replace(/[-@](latest|\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  return known.find(({ model }) => model === id) ?? known.find(({ model }) => model === bare)
}

/** What is known of a model, whoever serves it. */
export async function catalogFacts(provider: string, id: string): Promise<ModelFacts> {
  return sameModel((await factsOf(provider)) ?? [], id)?.native_config ?? {}
}

function mostCommon(known: CatalogFacts[]): CatalogFacts | undefined {
  const count = (api: string) => known.filter((facts) => facts.api === api).length
  return known.toSorted((a, b) => count(b.api) - count(a.api))[0]
}

/** Properties of a model, without those that concern another wire than `api`. */
function factsFor(api: string, own: CatalogFacts | undefined): ModelFacts {
  if (own === undefined || own.api === api) return own?.native_config ?? {}
  const {
    compat: _compat,
    headers: _headers,
    samplingParams: _sampling,
    ...rest
  } = own.native_config
  return rest
}

function merge(known: ModelFacts, described: ModelFacts): ModelFacts {
  return {
    ...known,
    ...described,
    ...((known.compat ?? described.compat) && { compat: { ...known.compat, ...described.compat } }),
    ...((known.headers ?? described.headers) && {
      headers: { ...known.headers, ...described.headers },
    }),
  }
}

/** Cached: the catalog does not change while the process runs. */
const catalogued = runOnceEach(readCatalog)

const factsOf = (provider: string): Promise<CatalogFacts[] | undefined> =>
  isCatalogued(provider) ? catalogued(provider) : readCatalog(provider)

async function readCatalog(provider: string): Promise<CatalogFacts[] | undefined> {
  const entries = await loadCatalog(provider)
  return entries?.map((entry) => readFacts(entry as CatalogEntry))
}

type CatalogEntry = Omit<ModelFacts, 'api'> & {
  id: string
  provider: string
  api: string
  baseUrl: string
}

function readFacts(entry: CatalogEntry): CatalogFacts {
  return {
    provider: entry.provider,
    api: entry.api,
    model: entry.id,
    base_url: entry.baseUrl,
    native_config: {
      name: entry.name,
      reasoning: entry.reasoning,
      input: entry.input,
      cost: entry.cost,
      contextWindow: entry.contextWindow,
      maxTokens: entry.maxTokens,
      ...(entry.thinkingLevelMap && { thinkingLevelMap: entry.thinkingLevelMap }),
      ...(entry.samplingParams && { samplingParams: entry.samplingParams }),
      ...(entry.headers && { headers: entry.headers }),
      ...(entry.compat && { compat: entry.compat }),
    },
  }
}
