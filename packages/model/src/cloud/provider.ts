/** A cloud that serves models, as it is configured, and the models that it serves. */
import { catalogFacts } from '../catalog.ts'
import type { ModelTarget } from '../catalog.ts'
import type { ModelFacts } from '../spec.ts'
import { refuseModel } from '../spec.ts'
import type { CloudLocation } from './access.ts'
import { cloudHost, vertexPath } from './access.ts'
import { claudeIdOf, cloudModelId } from './model-ids.ts'

export type CloudProvider = CloudLocation & {
  /** The name of a Foundry resource; needed there without `base_url`. */
  resource?: string | undefined
  /** In place of the cloud's own host. */
  base_url?: string | undefined
  /** Of Bedrock's inference profiles, such as `eu.`. */
  prefix?: string | undefined
  /** Ids at the cloud, by the ids that agents name. */
  overrides?: Record<string, string> | undefined
}

/**
 * Claude's ids are the ones of Anthropic's own API, or the cloud's. Agents and histories keep the id that was asked for:
 * the cloud's id stands in `cloud.model` alone.
 */
export async function resolveCloudModel(
  provider: CloudProvider,
  id: string,
  native_config: ModelFacts = {},
): Promise<ModelTarget | { refused: string }> {
  if (provider.type === 'foundry' && !provider.resource && !provider.base_url)
    return { refused: 'cloud.resource: is required for provider foundry, or base_url' }
  const claude = claudeIdOf(id) ?? claudeIdOf(provider.overrides?.[id] ?? '')
  const target =
    claude === undefined ? await otherModel(provider, id) : await claudeModel(provider, id, claude)
  return refusedOr({ ...target, native_config: { ...target.native_config, ...native_config } })
}

const hostOf = (provider: CloudProvider): string =>
  (provider.base_url ?? cloudHost(provider)).replace(/\/+$/, '')

async function claudeModel(
  provider: CloudProvider,
  id: string,
  claude: string,
): Promise<ModelTarget> {
  const own = claude === id ? await cloudModelId(provider, id, provider.prefix) : id
  const path = provider.type === 'foundry' && !provider.base_url ? '/anthropic' : ''
  return {
    // Signatures of thinking hold at all clouds, so the messages are those of one model.
    provider: 'anthropic',
    api: 'anthropic-messages',
    model: claude,
    base_url: hostOf(provider) + path,
    native_config: await catalogFacts('anthropic', claude),
    cloud: { ...locationOf(provider), model: provider.overrides?.[id] ?? own },
  }
}

async function otherModel(provider: CloudProvider, id: string): Promise<ModelTarget> {
  const served = otherWire(provider, hostOf(provider), id)
  const isGemini = served.api === 'google-generative-ai'
  return {
    provider: provider.type,
    model: id,
    ...served,
    native_config: isGemini ? await catalogFacts('google', id) : {},
    cloud: { ...locationOf(provider), model: provider.overrides?.[id] ?? id },
  }
}

function refusedOr(target: ModelTarget): ModelTarget | { refused: string } {
  const refused = refuseModel(target)
  return refused === undefined ? target : { refused }
}

function locationOf(provider: CloudProvider): CloudLocation {
  if (provider.type === 'foundry') return { type: provider.type }
  const { type, region } = provider
  return type === 'bedrock' ? { type, region } : { type, region, project: provider.project }
}

/** Models of other makers are reached by the cloud's endpoints that speak OpenAI's or Google's wire. */
function otherWire(
  provider: CloudProvider,
  host: string,
  id: string,
): { api: string; base_url: string } {
  if (provider.type !== 'vertex')
    return { api: 'openai-completions', base_url: `${host}/openai/v1` }
  const path = `${host}${vertexPath(provider)}`
  return id.startsWith('gemini')
    ? { api: 'google-generative-ai', base_url: `${path}/publishers/google` }
    : { api: 'openai-completions', base_url: `${path}/endpoints/openapi` }
}
