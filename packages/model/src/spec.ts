/** What it takes to reach one model: plain data, safe to build from a stored card. */
import type { Effort, Origin, Speed } from './model.ts'
import { refuseSpeed } from './effort.ts'

/** Facts about a model. They say how to speak to it, never who it is, where it is or with which key. */
export type ModelFacts = {
  name?: string
  /** Read when a card is resolved; a spec's own `api` decides afterwards. */
  api?: string
  reasoning?: boolean
  /** Level to the provider's word for it; null marks a level as unsupported. */
  thinkingLevelMap?: Record<string, string | null>
  input?: string[]
  /** US dollars for a million tokens. */
  cost?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number }
  /** Tokens. */
  contextWindow?: number
  maxTokens?: number
  /** Added to the request body of the wires that speak OpenAI's dialects. */
  samplingParams?: Record<string, unknown>
  headers?: Record<string, string>
  compat?: Record<string, unknown>
}

export type ModelSpec = Origin & {
  /** With or without the version at its end. */
  base_url: string
  /** SECRET: never logged. */
  api_key: string
  /** SECRET: never logged. They may hold a key. */
  headers?: Record<string, string>
  native_config?: ModelFacts
  /** Absent: the provider's own default. */
  effort?: Effort
  speed?: Speed
  /** Ends a call as `unreachable` when nothing arrives for this long; absent: only the signal ends it. */
  idleTimeoutMs?: number
  /** Ends a call that takes longer, however steadily its answer arrives; absent: no bound. */
  answerTimeoutMs?: number
}

export const wires = [
  'anthropic-messages',
  'openai-completions',
  'openai-responses',
  'google-generative-ai',
] as const
export type Wire = (typeof wires)[number]

export function isWire(api: string): api is Wire {
  return wires.some((wire) => wire === api)
}

const ambient = 'takes its credentials from the machine it runs on, which are never used for a card'
const unsupported: Record<string, string> = {
  'bedrock-converse-stream': ambient,
  'google-vertex': ambient,
  'azure-openai-responses': `${ambient}; use openai-responses with the resource's own URL`,
  'openai-codex-responses': 'needs a subscription, which may not be kept in a card',
  'mistral-conversations': 'is not spoken here; use openai-completions',
}

/** A model's name is a part of the path on some wires: control characters are dropped there, and dots climb. */
const leadsAway = /(^|[/\\])\.\.?([/\\]|$)|[?#%\p{Cc}]/u

/** Why no model can have this name. */
export const refuseModelName = (model: string): string | undefined =>
  leadsAway.test(model)
    ? 'model: may hold no "..", "?", "#", "%" or control character: it would lead away from base_url'
    : undefined

/** Why this model cannot be called, in a sentence for the person who configured it. */
export function refuseModel(spec: Omit<ModelSpec, 'api_key'> & { api_key?: string }) {
  if (!isWire(spec.api)) {
    const reason = unsupported[spec.api] ?? `is not known; use one of ${wires.join(', ')}`
    return `api '${spec.api}' ${reason}`
  }
  if (!/^https?:$/.test(URL.parse(spec.base_url)?.protocol ?? '')) {
    return 'base_url must be an http or https URL'
  }
  if (spec.base_url.includes('{')) return 'base_url has a placeholder that must be filled in'
  if (spec.provider === 'github-copilot' || spec.api_key?.includes('sk-ant-oat')) {
    return 'subscription credentials may not be used; give an API key'
  }
  const misnamed = refuseModelName(spec.model)
  if (misnamed !== undefined) return misnamed
  return spec.speed === undefined ? undefined : refuseSpeed(spec.provider, spec.api, spec.speed)
}
