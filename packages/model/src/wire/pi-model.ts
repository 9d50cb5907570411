import type { ModelSpec, ModelFacts, ModelWire } from '../spec.ts'
import { clientBaseUrl } from './base-url.ts'
import type { Api, Model } from './pi.ts'

const userAgent = 'steward/0.1'
/** Limits of a model without a description, low enough for most servers. */
const unknownLimits = { contextWindow: 128_000, maxTokens: 8_192 }

export function inputOf(spec: ModelSpec): ('text' | 'image' | 'document')[] {
  const given = spec.native_config?.input
  const seesImages = given?.includes('image') ?? spec.api !== 'openai-completions'
  const takesFiles = spec.api !== 'openai-completions' || filesInChat.has(spec.provider)
  const input: ('text' | 'image' | 'document')[] = ['text']
  if (seesImages) input.push('image')
  if (given?.includes('document') === true || (seesImages && takesFiles)) input.push('document')
  return input
}

/** Chat-completions servers that accept files. */
const filesInChat = new Set(['openai', 'oai', 'openrouter'])

export function limitsOf(native: ModelFacts | undefined) {
  return {
    contextWindow: native?.contextWindow ?? unknownLimits.contextWindow,
    maxTokens: native?.maxTokens ?? unknownLimits.maxTokens,
  }
}

export function libraryModel(wire: ModelWire, spec: ModelSpec): Model<Api> {
  const native = spec.native_config
  return {
    id: spec.model,
    provider: spec.provider,
    api: wire,
    baseUrl: clientBaseUrl(wire, spec),
    name: native?.name ?? spec.model,
    reasoning: native?.reasoning ?? false,
    thinkingLevelMap: native?.thinkingLevelMap,
    input: inputOf(spec).filter((kind) => kind !== 'document'),
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...native?.cost },
    ...limitsOf(native),
    samplingParams: without(native?.samplingParams, (key) => fixedFields.has(key)),
    headers: headersOf(spec),
    compat: compatOf(wire, spec),
  }
}

/** Fields that decide about a request's content or receiver are no sampling parameters. */
const fixedFields = new Set(
  `model models provider messages input contents system instructions tools stream stream_options store metadata user
  service_tier previous_response_id conversation prompt prompt_cache_key`.split(/\s+/),
)
const reservedHeaders =
  /^(authorization|proxy-authorization|x-api-key|api-key|x-goog-.*|cookie|host|openai-organization|openai-project|content-.*|connection|transfer-encoding)$/i

/** A card's own headers may set more than the model's description: they are sealed with the card's key. */
function headersOf(spec: ModelSpec): Record<string, string> {
  const described = without(spec.native_config?.headers, (name) => reservedHeaders.test(name))
  const own = without(spec.headers, (name) =>
    /^(host|content-length|connection|transfer-encoding)$/i.test(name),
  )
  const named = { 'User-Agent': userAgent, ...described, ...own }
  return without(named, (name) => name.toLowerCase() === 'anthropic-beta') ?? {}
}

/** The library replaces its own beta header by a given one, so the betas are joined in the payload. */
export function betasOf(spec: ModelSpec): string[] {
  return Object.entries({ ...spec.native_config?.headers, ...spec.headers })
    .filter(([name]) => name.toLowerCase() === 'anthropic-beta')
    .flatMap(([, value]) => value.split(','))
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
}

function compatOf(wire: ModelWire, spec: ModelSpec): Model<Api>['compat'] {
  const compat: Record<string, unknown> = { ...spec.native_config?.compat }
  if (wire === 'anthropic-messages') {
    // These options answer with another model, or write into the history something that a later call could not repeat.
    for (const name of [
      'allowedFallbackModels',
      'supportsMidConvoEffort',
      'supportsMidConvoToolChanges',
    ]) {
      delete compat[name]
    }
    const isOwnApi = ['anthropic', 'ant'].includes(spec.provider) && spec.cloud === undefined
    compat.supportsEagerToolInputStreaming ??= isOwnApi
    if (spec.cloud)
      Object.assign(compat, { supportsStrictTools: false, supportsMidConvoSystemMessages: false })
  }
  return compat
}

function without<T>(
  record: Record<string, T> | undefined,
  drop: (key: string) => boolean,
): Record<string, T> | undefined {
  if (record === undefined) return undefined
  return Object.fromEntries(Object.entries(record).filter(([key]) => !drop(key)))
}
