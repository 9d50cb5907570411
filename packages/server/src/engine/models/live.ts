/** The list that a provider itself gives for a key. Deprecated; two legacy families only. [models/catalog/live] */
import { boundedAnswer } from '@steward/model/wire/bounded.ts'
import { z } from 'zod'
import { asOperator } from '../../ground/core/dial.ts'
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

/** Asks at the operator's endpoint of the family where one is configured. The key is used for this and not kept. */
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
