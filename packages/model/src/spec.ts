/** Everything needed to reach one model, as plain data that a stored card can hold. */
import type { Effort, MessageOrigin, Speed } from './model.ts'
import type { CloudAccess } from './cloud/access.ts'
import { refuseSpeed } from './effort.ts'

/** Properties of a model: how to speak to it. They never hold its identity, URL or key. */
export type ModelFacts = {
  name?: string
  /** Used when a card is resolved. A spec's own `api` takes precedence. */
  api?: string
  reasoning?: boolean
  /** Maps a level to the provider's word. Null: not supported. */
  thinkingLevelMap?: Record<string, string | null>
  input?: string[]
  /** US dollars for a million tokens. */
  cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number }
  /** Size of the context in tokens. */
  contextWindow?: number
  maxTokens?: number
  /** Added to the request body on wires of OpenAI's dialects. */
  samplingParams?: Record<string, unknown>
  headers?: Record<string, string>
  /** True: no API version is put behind the base URL. */
  exactBaseUrl?: boolean
  compat?: Record<string, unknown>
}

export type ModelSpec = MessageOrigin & {
  /** URL with or without the API version at its end. */
  base_url: string
  /** SECRET: never logged. */
  api_key: string
  /** SECRET: never logged. Headers may hold a key. */
  headers?: Record<string, string>
  native_config?: ModelFacts
  /** The cloud that serves the model; undefined: its maker, or an endpoint that speaks the wire as it is. */
  cloud?: CloudAccess
  /** Undefined: the provider's default. */
  effort?: Effort
  speed?: Speed
  /** Ends a call as `unreachable` when no event and no ping arrives for this time. Undefined: no limit. */
  idleTimeoutMs?: number
  /** Ends a call that takes longer in total. Undefined: no limit. */
  answerTimeoutMs?: number
}

export const modelWires = [
  'anthropic-messages',
  'openai-completions',
  'openai-responses',
  'google-generative-ai',
] as const
export type ModelWire = (typeof modelWires)[number]

export function isWire(api: string): api is ModelWire {
  return modelWires.some((wire) => wire === api)
}

const unsupported: Record<string, string> = {
  'bedrock-converse-stream': 'is not spoken here; use the provider bedrock',
  'google-vertex': 'is not spoken here; use the provider vertex',
  'azure-openai-responses': "is not spoken here; use openai-responses with the resource's own URL",
  'openai-codex-responses': 'needs a subscription, which may not be kept in a card',
  'mistral-conversations': 'is not spoken here; use openai-completions',
}

/**
 * Some wires put the model's name into the URL's path, where control characters are dropped and dots climb to other
 * paths.
 */
const leadsAway = /(^|[/\\])\.\.?([/\\]|$)|[?#%\p{Cc}]/u

/** The reason why no model can have this name; undefined for a valid name. */
export const refuseModelName = (model: string): string | undefined =>
  leadsAway.test(model)
    ? 'model: may hold no "..", "?", "#", "%" or control character: it would lead away from base_url'
    : undefined

/** The reason why this model cannot be called, for the person who configured it; undefined when it can be called. */
export function refuseModel(spec: Omit<ModelSpec, 'api_key'> & { api_key?: string }) {
  if (!isWire(spec.api)) {
    const reason = unsupported[spec.api] ?? `is not known; use one of ${modelWires.join(', ')}`
    return `native_config.api: '${spec.api}' ${reason}`
  }
  if (!/^https?:$/.test(URL.parse(spec.base_url)?.protocol ?? '')) {
    return 'base_url: must be an http or https URL'
  }
  if (spec.base_url.includes('{')) return 'base_url: has a placeholder that must be filled in'
  if (spec.provider === 'github-copilot' || spec.api_key?.includes('sk-ant-oat')) {
    return 'api_key: subscription credentials may not be used; give an API key'
  }
  return refuseModelName(spec.model) ?? refuseByCloud(spec)
}

function refuseByCloud({ cloud, provider, api, speed = 'standard' }: Omit<ModelSpec, 'api_key'>) {
  const misnamed = cloud && refuseModelName(cloud.model)
  return misnamed ?? refuseSpeed(cloud?.type ?? provider, api, speed)
}
