/** A model card with a price, served by a stub. */
import assert from 'node:assert/strict'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import type { ServiceClients } from './service.ts'
import { fresh } from './turns.ts'

export const says = (text: string, usage: NonNullable<StubAnswer['usage']>): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
  usage,
})

/** Creates a model card of a model whose price nobody knows, and returns its handle. */
export const unpricedModel = (service: ServiceClients, stub: StubModel): Promise<string> =>
  pricedModel(service, stub, undefined)

/** Creates a model card of a model that no catalogue knows and that nobody can ask, and returns its handle. */
export async function unheardOfModel(service: ServiceClients): Promise<string> {
  const model_id = fresh('unpriced').replace(' ', '-')
  const { status, body } = await service.ask('POST', '/v1/ext/model_cards', {
    ...{ model_id, provider: 'openrouter', model: 'unheard-of', api_key: 'sk-one-key-0123456789' },
  })
  assert.equal(status, 200, JSON.stringify(body))
  return model_id
}

/** Creates a model card and returns its handle. `cost`: US dollars for a million tokens. */
export async function pricedModel(
  service: ServiceClients,
  stub: StubModel,
  cost: object | undefined,
  /** Usage of the request that tests the new card. Its tokens are charged too. */
  probe = { input: 0, output: 0 },
  /** The wire that the stub speaks, where it is not that of Anthropic. */
  api?: 'openai-completions' | 'openai-responses',
): Promise<string> {
  const model_id = fresh('model').replace(' ', '-')
  stub.replies(says('OK', probe))
  const { status, body } = await service.ask('POST', '/v1/ext/model_cards', {
    model_id,
    ...{ model: 'stub-1', base_url: stub.url, api_key: 'key' },
    provider: api ? 'oai-compatible' : 'ant-compatible',
    native_config: { cost, ...(api && { api }) },
  })
  assert.equal(status, 200, JSON.stringify(body))
  return model_id
}
