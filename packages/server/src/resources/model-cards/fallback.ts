/** The operator's own keys, clouds and gateways, for models without a card in the workspace. */
import { catalogFacts, findModel, resolveModel as targetOf } from '@steward/model/catalog.ts'
import type { CloudAccess } from '@steward/model/cloud/access.ts'
import { resolveCloudModel } from '@steward/model/cloud/provider.ts'
import type { ModelSpec } from '@steward/model/spec.ts'
import { refuseModelName } from '@steward/model/spec.ts'
import { globMatcher } from '../../ground/core/text/glob.ts'
import type { ModelProvider, OperatorGateway } from '../../ground/config/model-providers.ts'

export type FallbackKey = { apiKey: string; baseUrl: string | undefined }
export type FallbackKeys = Record<'anthropic' | 'openai' | 'google', FallbackKey | undefined>

/** What the operator has set to reach models. */
export type OperatorModels = {
  fallbackKeys: FallbackKeys
  /** In the order in which a model is looked for, before the keys. */
  modelProviders: readonly ModelProvider[]
}

type OperatorSpec = ModelSpec & { named: 'operator' }

/** The spec of a model with a plain identifier, or the reason why this deployment cannot reach it. */
export async function fallbackSpec(
  { fallbackKeys: keys, modelProviders }: OperatorModels,
  id: string,
): Promise<OperatorSpec | { refused: string }> {
  const refused = refuseModelName(id)
  if (refused !== undefined) return { refused }
  const served = providerOf(modelProviders, id)
  if (served) return providerSpec(served.provider, served.model)
  const found = await findModel(id)
  const key = found && keyOf(keys, found.provider)
  if (key)
    return {
      ...found,
      base_url: key.baseUrl ?? found.base_url,
      api_key: key.apiKey,
      named: 'operator',
    }
  // An endpoint of the operator that speaks OpenAI's wire may serve any model name.
  const { openai } = keys
  if (openai?.baseUrl) {
    const card = { provider: 'oai-compatible', model: id, base_url: openai.baseUrl }
    const target = await targetOf(card)
    return 'refused' in target ? target : { ...target, api_key: openai.apiKey, named: 'operator' }
  }
  return {
    refused: `no model card is named ${id}, and no key of the operator serves it: create one at /v1/ext/model_cards`,
  }
}

/** The provider that the identifier names before its slash, or the first one that serves the model. */
export function providerOf(
  providers: readonly ModelProvider[],
  id: string,
): { provider: ModelProvider; model: string } | undefined {
  const slash = id.indexOf('/')
  const named = providers.find(({ name }) => name === id.slice(0, Math.max(0, slash)))
  if (named) return { provider: named, model: id.slice(slash + 1) }
  const serving = providers.find(({ models }) => models.some((pattern) => globMatcher(pattern)(id)))
  return serving && { provider: serving, model: id }
}

export async function providerSpec(
  provider: ModelProvider,
  model: string,
): Promise<OperatorSpec | { refused: string }> {
  if ('gateway' in provider) return gatewaySpec(provider, model)
  const { cloud, credentials, apiKey } = provider
  const target = await resolveCloudModel(cloud, model)
  if ('refused' in target) return target
  const access = target.cloud && withCredentials(target.cloud, credentials)
  return { ...target, api_key: apiKey, named: 'operator', ...(access && { cloud: access }) }
}

/** Models of Anthropic by its own wire, others by OpenAI's, unless the settings say another. */
async function gatewaySpec(
  { gateway }: OperatorGateway,
  model: string,
): Promise<OperatorSpec | { refused: string }> {
  const { base_url, headers, overrides, api_key = 'none' } = gateway
  const isClaude = model.startsWith('claude-')
  const api = gateway.api ?? (isClaude ? 'anthropic-messages' : 'openai-completions')
  const known = isClaude ? await catalogFacts('anthropic', model) : {}
  const target = await targetOf({
    provider: api === 'anthropic-messages' ? 'ant-compatible' : 'oai-compatible',
    model: overrides?.[model] ?? model,
    base_url,
    native_config: { ...known, api },
  })
  if ('refused' in target) return target
  return { ...target, api_key, ...(headers && { headers }), named: 'operator' }
}

/** The settings give each cloud credentials of its own. */
const withCredentials = (
  access: CloudAccess,
  credentials: CloudAccess['credentials'],
): CloudAccess => Object.assign({ ...access }, credentials && { credentials })

const keyOf = (keys: FallbackKeys, provider: string): FallbackKey | undefined =>
  provider === 'anthropic' || provider === 'openai' || provider === 'google'
    ? keys[provider]
    : undefined
