/** The operator's own keys, for models without a card in the workspace. */
import { findModel, resolveModel as targetOf } from '@steward/model/catalog.ts'
import type { ModelSpec } from '@steward/model/spec.ts'
import { refuseModelName } from '@steward/model/spec.ts'

export type FallbackKey = { apiKey: string; baseUrl: string | undefined }
export type FallbackKeys = Record<'anthropic' | 'openai' | 'google', FallbackKey | undefined>

/** The spec of a model with a plain identifier, or the reason why this deployment cannot reach it. */
export async function fallbackSpec(
  keys: FallbackKeys,
  id: string,
): Promise<(ModelSpec & { named: 'operator' }) | { refused: string }> {
  const refused = refuseModelName(id)
  if (refused !== undefined) return { refused }
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

const keyOf = (keys: FallbackKeys, provider: string): FallbackKey | undefined =>
  provider === 'anthropic' || provider === 'openai' || provider === 'google'
    ? keys[provider]
    : undefined
