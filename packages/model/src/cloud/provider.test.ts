import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CloudProvider } from './provider.ts'
import { resolveCloudModel } from './provider.ts'

const bedrock = { type: 'bedrock', region: 'eu-central-1' } as const
const vertex = { type: 'vertex', region: 'europe-west1', project: 'p' } as const
const foundry = { type: 'foundry', resource: 'acme' } as const

async function target(provider: CloudProvider, id: string) {
  const found = await resolveCloudModel(provider, id)
  assert.ok(!('refused' in found), JSON.stringify(found))
  return found
}

void describe("a model at a cloud, by the id of Anthropic's own API", () => {
  const cases: [CloudProvider, id: string, there: string][] = [
    [bedrock, 'claude-sonnet-4-5', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    [bedrock, 'claude-sonnet-4-5-20250929', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    [bedrock, 'claude-opus-4-6', 'eu.anthropic.claude-opus-4-6-v1'],
    [bedrock, 'claude-opus-4-7', 'eu.anthropic.claude-opus-4-7'],
    [bedrock, 'claude-next-9', 'eu.anthropic.claude-next-9'],
    [{ ...bedrock, prefix: 'global.' }, 'claude-sonnet-4-6', 'global.anthropic.claude-sonnet-4-6'],
    [{ ...bedrock, prefix: '' }, 'claude-sonnet-4-6', 'anthropic.claude-sonnet-4-6'],
    [{ ...bedrock, region: 'us-west-2' }, 'claude-sonnet-4-6', 'us.anthropic.claude-sonnet-4-6'],
    [{ ...bedrock, region: 'ap-northeast-1' }, 'claude-sonnet-5', 'jp.anthropic.claude-sonnet-5'],
    [{ ...bedrock, region: 'sa-east-1' }, 'claude-sonnet-5', 'global.anthropic.claude-sonnet-5'],
    [
      {
        ...bedrock,
        overrides: {
          'claude-opus-5': 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/x',
        },
      },
      'claude-opus-5',
      'arn:aws:bedrock:eu-central-1:1:application-inference-profile/x',
    ],
    [vertex, 'claude-sonnet-4-5', 'claude-sonnet-4-5@20250929'],
    [vertex, 'claude-sonnet-4-6', 'claude-sonnet-4-6'],
    [foundry, 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    [{ ...foundry, overrides: { 'claude-sonnet-5': 'ours' } }, 'claude-sonnet-5', 'ours'],
  ]
  for (const [provider, id, there] of cases)
    void it(`${id} is ${there} at ${provider.type}`, async () => {
      const { model, cloud } = await target(provider, id)
      assert.deepEqual([model, cloud?.model], [id, there])
    })

  void it("has the price and the abilities of Anthropic's own", async () => {
    const { native_config, provider, api } = await target(bedrock, 'claude-sonnet-4-5')
    assert.deepEqual([provider, api], ['anthropic', 'anthropic-messages'])
    assert.equal(native_config?.cost?.input, 3)
    assert.equal(native_config?.reasoning, true)
  })

  void it('may be named by the id of the cloud', async () => {
    const id = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
    const { model, cloud } = await target(bedrock, id)
    assert.deepEqual([model, cloud?.model], ['claude-sonnet-4-5-20250929', id])
    const other = await target(vertex, 'claude-sonnet-4-5@20250929')
    assert.equal(other.model, 'claude-sonnet-4-5-20250929')
  })
})

void describe('the address of a cloud', () => {
  const cases: [CloudProvider, id: string, api: string, base: string][] = [
    [
      bedrock,
      'claude-x',
      'anthropic-messages',
      'https://bedrock-runtime.eu-central-1.amazonaws.com',
    ],
    [
      { ...bedrock, base_url: 'https://vpce.example/' },
      'claude-x',
      'anthropic-messages',
      'https://vpce.example',
    ],
    [
      bedrock,
      'openai.gpt-oss-120b-1:0',
      'openai-completions',
      'https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1',
    ],
    [vertex, 'claude-x', 'anthropic-messages', 'https://europe-west1-aiplatform.googleapis.com'],
    [
      { ...vertex, region: 'global' },
      'claude-x',
      'anthropic-messages',
      'https://aiplatform.googleapis.com',
    ],
    [
      { ...vertex, region: 'eu' },
      'claude-x',
      'anthropic-messages',
      'https://aiplatform.eu.rep.googleapis.com',
    ],
    [
      vertex,
      'gemini-2.5-pro',
      'google-generative-ai',
      'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/google',
    ],
    [
      vertex,
      'meta/llama-4',
      'openai-completions',
      'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/endpoints/openapi',
    ],
    [foundry, 'claude-x', 'anthropic-messages', 'https://acme.services.ai.azure.com/anthropic'],
    [foundry, 'gpt-5', 'openai-completions', 'https://acme.services.ai.azure.com/openai/v1'],
  ]
  for (const [provider, id, api, base] of cases)
    void it(`of ${id} is ${base}`, async () => {
      const found = await target(provider, id)
      assert.deepEqual([found.api, found.base_url], [api, base])
    })

  void it('is missing without the name of the resource', async () => {
    const found = await resolveCloudModel({ type: 'foundry' }, 'claude-x')
    assert.deepEqual(found, {
      refused: 'cloud.resource: is required for provider foundry, or base_url',
    })
  })
})
