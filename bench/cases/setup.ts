/** The shared set-up of the cases: agents on the stub model, an environment, sessions and messages. */
import type { Client } from '../client.ts'

export type BenchSetup = {
  base: string
  call: Client
  environment: string
  /** URL of the stub model. */
  modelUrl: string
  agents: Record<string, string>
}

const client = {
  type: 'custom',
  name: 'ask_client',
  description: 'asks',
  input_schema: { type: 'object' },
}

const models = 'one bash fill custom mcp slow stream hang words team'.split(' ')

/** Creates a card on the stub model and an agent for each of the model's answers. */
export async function setUp(base: string, call: Client, modelUrl: string): Promise<BenchSetup> {
  const agents: Record<string, string> = {}
  for (const model of models) {
    await call.post('/v1/ext/model_cards', {
      model_id: model,
      provider: 'ant-compatible',
      model,
      base_url: modelUrl,
      api_key: 'none-needed',
      ...(model === 'words' ? { native_config: { contextWindow: 32_000, maxTokens: 4_000 } } : {}),
    })
    agents[model] = await call.make('/v1/agents', {
      name: model,
      model: { id: model },
      harness: model === 'words' ? 'native' : 'default',
      tools: [{ type: 'agent_toolset_20260401' }, client],
    })
  }
  const environment = await call.make('/v1/environments', { name: `bench-${Date.now()}` })
  return { base, call, environment, modelUrl, agents }
}

export const newSession = (
  { call, environment, agents }: BenchSetup,
  model: string,
): Promise<string> =>
  call.make('/v1/sessions', { agent: agents[model] ?? '', environment_id: environment })

export const message = (text = 'begin turn') => ({
  events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
})
