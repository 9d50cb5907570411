import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listCatalogModels, findModel, resolveModel } from './catalog.ts'

void describe('model catalog', () => {
  void it('lists what a provider has, under its short name too', async () => {
    const models = await listCatalogModels('anthropic')
    const sonnet = models?.find(({ id }) => id === 'claude-sonnet-4-5')
    assert.equal(sonnet?.api, 'anthropic-messages')
    assert.ok((sonnet?.context_window ?? 0) >= 200_000)
    assert.ok(sonnet?.efforts.includes('high'))
    assert.deepEqual(await listCatalogModels('ant'), models)
    assert.ok((await listCatalogModels('oai'))?.length)
    assert.ok((await listCatalogModels('google'))?.length)
  })

  void it('has none for a provider it does not know, whatever its name', async () => {
    for (const name of ['acme', 'oai-compatible', '../anthropic', 'constructor', '']) {
      assert.equal(await listCatalogModels(name), undefined)
    }
  })

  void it('lists no model it could not call', async () => {
    assert.equal(await listCatalogModels('amazon-bedrock'), undefined)
    assert.deepEqual(await listCatalogModels('mistral'), [])
  })

  void it('finds the provider of a plain identifier', async () => {
    const cases = {
      'claude-sonnet-4-5': ['anthropic', 'anthropic-messages', 'claude-sonnet-4-5'],
      'claude-unheard-of-9': ['anthropic', 'anthropic-messages', 'claude-unheard-of-9'],
      'gpt-5': ['openai', 'openai-responses', 'gpt-5'],
      'gemini-2.5-pro': ['google', 'google-generative-ai', 'gemini-2.5-pro'],
      'openrouter/some/model': ['openrouter', 'openai-completions', 'some/model'],
    }
    for (const [id, expected] of Object.entries(cases)) {
      const found = await findModel(id)
      assert.deepEqual([found?.provider, found?.api, found?.model], expected)
      assert.match(found?.base_url ?? '', /^https:/)
    }
    assert.equal(await findModel('acme-1'), undefined)
    assert.equal(await findModel('acme/one'), undefined)
  })

  void it('knows a model again under a date', async () => {
    const dated = await findModel('claude-opus-4-8-20260401')
    assert.equal(dated?.model, 'claude-opus-4-8-20260401')
    assert.ok((dated?.native_config?.contextWindow ?? 0) >= 200_000)
  })
})

void describe('resolving a card', () => {
  void it('lets the description go before the catalog', async () => {
    const native_config = { contextWindow: 5, compat: { supportsTemperature: true } }
    const target = await resolveModel({ provider: 'ant', model: 'claude-opus-4-8', native_config })
    assert.ok(!('refused' in target))
    assert.equal(target.provider, 'anthropic')
    assert.equal(target.base_url, 'https://api.anthropic.com')
    assert.equal(target.native_config?.contextWindow, 5)
    assert.equal(target.native_config?.compat?.supportsTemperature, true)
    assert.equal(target.native_config?.compat?.forceAdaptiveThinking, true)
  })

  void it('takes endpoints that speak a known wire', async () => {
    for (const [provider, api] of [
      ['ant-compatible', 'anthropic-messages'],
      ['oai-compatible', 'openai-completions'],
    ] as const) {
      const target = await resolveModel({ provider, model: 'm', base_url: 'http://127.0.0.1:1/v1' })
      assert.ok(!('refused' in target))
      assert.deepEqual([target.provider, target.api], [provider, api])
      assert.deepEqual(await resolveModel({ provider, model: 'm' }), {
        refused: `base_url: is required for provider '${provider}'`,
      })
    }
  })

  void it('takes any provider that says where it is and what it speaks', async () => {
    const card = { provider: 'acme', model: 'm', base_url: 'https://acme.example' }
    const target = await resolveModel({ ...card, native_config: { api: 'openai-responses' } })
    assert.ok(!('refused' in target))
    assert.deepEqual([target.provider, target.api], ['acme', 'openai-responses'])
    assert.match(
      JSON.stringify(await resolveModel(card)),
      /provider: 'acme' is not known\. The names are .*groq.* or name the wire by native_config\.api/,
    )
    for (const [given, meant] of [
      ['gemini', 'google'],
      ['ollama', 'oai-compatible'],
      ['Azure', 'oai-compatible'],
      ['mistrall', 'mistral'],
    ])
      assert.match(
        JSON.stringify(await resolveModel({ provider: given ?? '', model: 'm' })),
        new RegExp(`'${given}' is not known\\. Do you mean ${meant}\\?`),
      )
    const mistral = await resolveModel({ provider: 'mistral', model: 'mistral-large-latest' })
    assert.ok(!('refused' in mistral), JSON.stringify(mistral))
    assert.deepEqual(
      [mistral.api, mistral.base_url],
      ['openai-completions', 'https://api.mistral.ai/v1'],
    )
    const nowhere = { provider: 'acme', model: 'm', native_config: { api: 'openai-responses' } }
    assert.match(JSON.stringify(await resolveModel(nowhere)), /base_url: is required/)
  })

  void it('refuses what would take credentials from the machine or a subscription', async () => {
    for (const api of [
      'bedrock-converse-stream',
      'google-vertex',
      'azure-openai-responses',
      'openai-codex-responses',
      'smoke',
    ]) {
      const card = { provider: 'acme', model: 'm', base_url: 'https://acme.example' }
      const target = await resolveModel({ ...card, native_config: { api } })
      assert.match(JSON.stringify(target), /refused/)
    }
    const placeholder = await resolveModel({ provider: 'cloudflare-ai-gateway', model: 'm' })
    assert.match(JSON.stringify(placeholder), /base_url: has a placeholder/)
  })
})
