/** The only file that knows the library. The library is loaded at first use, which takes tens of milliseconds. */
import type {
  AssistantMessage,
  Context,
  ProviderStreams,
  TranscriptContext,
} from '@earendil-works/pi-ai'
import type { ModelWire } from '../spec.ts'

export type {
  Api,
  AssistantMessage,
  AssistantMessageEvent,
  Message,
  Model,
  Tool,
} from '@earendil-works/pi-ai'

export type WireLibrary = {
  /** By which requests are sent in place of the process's own fetch. */
  transport?: typeof globalThis.fetch
  streams: ProviderStreams
  isContextOverflow: (message: AssistantMessage, contextWindow?: number) => boolean
  normalizeContext: (context: Context) => TranscriptContext
}

const modules: Record<ModelWire, () => Promise<ProviderStreams>> = {
  'anthropic-messages': async () =>
    streamsOf(await import('@earendil-works/pi-ai/api/anthropic-messages')),
  'openai-completions': async () =>
    streamsOf(await import('@earendil-works/pi-ai/api/openai-completions')),
  'openai-responses': async () =>
    streamsOf(await import('@earendil-works/pi-ai/api/openai-responses')),
  'google-generative-ai': async () =>
    streamsOf(await import('@earendil-works/pi-ai/api/google-generative-ai')),
}

/** Each module narrows the model to its own API, which `ModelWire` has matched already. */
function streamsOf(module: Pick<ProviderStreams, never>): ProviderStreams {
  return module as ProviderStreams
}

export async function loadLibrary(wire: ModelWire): Promise<WireLibrary> {
  const [streams, overflow, transcript] = await Promise.all([
    modules[wire](),
    import('@earendil-works/pi-ai/utils/overflow'),
    import('@earendil-works/pi-ai/utils/transcript'),
  ])
  return {
    streams,
    isContextOverflow: overflow.isContextOverflow,
    normalizeContext: transcript.normalizeContext,
  }
}

/** Names of the providers whose models are known. */
export const cataloguedProviders = (): readonly string[] => [...catalogued]

export function isCatalogued(provider: string): boolean {
  return catalogued.has(provider)
}

/** A provider's part of the built-in catalog, not validated; undefined when there is no such provider. */
export async function loadCatalog(provider: string): Promise<unknown[] | undefined> {
  if (!isCatalogued(provider)) return undefined
  const module: Record<string, Record<string, unknown>> = await import(
    `@earendil-works/pi-ai/providers/${provider}.models`
  )
  return Object.values(Object.values(module)[0] ?? {})
}

/** Ids of the models of Bedrock. */
export async function loadBedrockIds(): Promise<string[]> {
  const { AMAZON_BEDROCK_MODELS } =
    await import('@earendil-works/pi-ai/providers/amazon-bedrock.models')
  return Object.values(AMAZON_BEDROCK_MODELS).map(({ id }) => id)
}

const catalogued = new Set(
  `ant-ling anthropic baseten cerebras cloudflare-ai-gateway cloudflare-workers-ai deepseek fireworks google groq
  huggingface kimi-coding meta minimax minimax-cn mistral moonshotai moonshotai-cn nvidia openai opencode opencode-go
  openrouter qwen-token-plan qwen-token-plan-cn qwen-token-plan-individual together vercel-ai-gateway xai xiaomi
  xiaomi-token-plan-ams xiaomi-token-plan-cn xiaomi-token-plan-sgp zai zai-coding-cn`.split(/\s+/),
)
