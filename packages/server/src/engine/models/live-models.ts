/**
 * The list of models that a provider returns for a key. Deprecated; only for two provider families.
 * [models/catalog/live]
 */
import { boundedAnswer } from '@steward/model/wire/bounded-answer.ts'
import { z } from 'zod'
import { asOperator } from '../../ground/core/security/dial.ts'
import { invalid, unsupported } from '../../ground/core/errors.ts'
import type { FallbackKeys } from '../../resources/model-cards/fallback.ts'

const withinMs = 6_000
const List = z.object({
  data: z.array(z.object({ id: z.string(), display_name: z.string().optional() })),
})

const families = {
  anthropic: {
    base: 'https://api.anthropic.com',
    headers: (key: string) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: {
    base: 'https://api.openai.com',
    headers: (key: string) => ({ authorization: `Bearer ${key}` }),
  },
}

/** Asks the operator's endpoint of the provider when one is configured. The key is used once and not stored. */
export async function liveModels(provider: string, apiKey: string, keys: FallbackKeys) {
  if (provider !== 'anthropic' && provider !== 'openai') {
    throw unsupported('api_key', `live discovery for provider ${provider} is`)
  }
  const { base, headers } = families[provider]
  const url = new URL('/v1/models', keys[provider]?.baseUrl ?? base)
  const init: RequestInit = {
    headers: headers(apiKey),
    redirect: 'manual',
    signal: AbortSignal.timeout(withinMs),
  }
  const answer = await asOperator(() => fetch(url, init))
    .then((response) => boundedAnswer(response))
    .catch((cause: unknown) => {
      throw Object.assign(invalid(`api_key: ${url.host} could not be asked`), { cause })
    })
  if (!answer.ok) throw invalid(`api_key: ${url.host} answered ${answer.status}`)
  const list = List.safeParse(await answer.json().catch(() => undefined))
  if (!list.success)
    throw invalid(`api_key: ${url.host} answered something that is no list of models`)
  return list.data.data.map(({ id, display_name }) => ({ id, display_name: display_name ?? id }))
}
