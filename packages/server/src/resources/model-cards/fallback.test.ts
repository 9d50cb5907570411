import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseModelProviders } from '../../ground/config/model-providers.ts'
import { fallbackSpec } from './fallback.ts'

const fallbackKeys = {
  anthropic: { apiKey: 'sk-ant', baseUrl: undefined },
  openai: undefined,
  google: undefined,
}
const keys = { type: 'aws_keys', access_key_id: 'AKIA', secret_access_key: 'secret' }
const modelProviders = parseModelProviders(
  JSON.stringify({
    'bedrock-eu': {
      type: 'bedrock',
      region: 'eu-central-1',
      models: ['claude-sonnet-*'],
      credentials: keys,
    },
    vertex: { type: 'vertex', region: 'global', project: 'p', models: ['claude-*', 'gemini-*'] },
    gateway: {
      type: 'gateway',
      base_url: 'https://llm.example',
      api_key: 'sk-gateway',
      models: ['house-*', 'claude-opus-*'],
      overrides: { 'house-large': 'large-v2' },
      headers: { 'x-team': 'a' },
    },
    last: { type: 'bedrock', region: 'us-east-1', models: ['a.b-*'], api_key: 'k' },
  }),
)

async function spec(id: string) {
  const found = await fallbackSpec({ fallbackKeys, modelProviders }, id)
  assert.ok(!('refused' in found), JSON.stringify(found))
  assert.equal(found.named, 'operator')
  return found
}

void describe('a model without a card', () => {
  void it('is served by the first cloud whose patterns it fits', async () => {
    const first = await spec('claude-sonnet-4-5')
    assert.deepEqual(first.cloud, {
      type: 'bedrock',
      region: 'eu-central-1',
      model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
      credentials: keys,
    })
    assert.equal((await spec('claude-haiku-4-5')).cloud?.type, 'vertex')
    assert.equal((await spec('gemini-2.5-pro')).api, 'google-generative-ai')
    // A dot in a pattern is a dot.
    assert.ok('refused' in (await fallbackSpec({ fallbackKeys, modelProviders }, 'axb-1')))
    assert.equal((await spec('a.b-1')).cloud?.model, 'a.b-1')
  })

  void it('is served by the cloud that its name begins with', async () => {
    const found = await spec('vertex/claude-sonnet-4-5')
    assert.deepEqual([found.model, found.cloud?.type], ['claude-sonnet-4-5', 'vertex'])
    const opus = await spec('gateway/claude-opus-4-6')
    assert.deepEqual(
      [opus.provider, opus.api, opus.base_url, opus.api_key, opus.cloud],
      ['ant-compatible', 'anthropic-messages', 'https://llm.example', 'sk-gateway', undefined],
    )
    assert.ok(opus.native_config?.cost)
  })

  void it('is asked for by the name that a gateway has for it', async () => {
    const found = await spec('house-large')
    assert.deepEqual([found.model, found.api], ['large-v2', 'openai-completions'])
    assert.deepEqual(found.headers, { 'x-team': 'a' })
  })

  void it('is served by a key of its maker where no cloud serves it', async () => {
    const found = await fallbackSpec({ fallbackKeys, modelProviders: [] }, 'claude-sonnet-4-5')
    assert.ok(!('refused' in found))
    assert.equal(found.base_url, 'https://api.anthropic.com')
  })
})
