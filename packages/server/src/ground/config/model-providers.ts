/** The clouds and gateways that serve the operator's models, in the order in which a model is looked for. */
import { AwsCredentials, AzureCredentials, GoogleCredentials } from '@steward/cloud/credentials.ts'
import type { CloudAccess } from '@steward/model/cloud/access.ts'
import type { CloudProvider } from '@steward/model/cloud/provider.ts'
import { CloudSettings } from '@steward/protocol/model-clouds.ts'
import { z } from 'zod'
import { parseJsonSetting } from '@steward/protocol/json-setting.ts'
import { schemaInFile } from './schema-in-file.ts'

const word = z.string().min(1)
const url = z.url({ protocol: /^https?$/ })

const common = {
  /** Names of models, where `*` stands for anything. */
  models: z.array(word).min(1).default(['claude-*']),
  overrides: z.record(word, word).optional(),
  api_key: word.optional(),
}
const { region, project, resource, prefix } = CloudSettings.shape
const awsRegion = region.unwrap()

const Bedrock = z.strictObject({
  ...common,
  type: z.literal('bedrock'),
  region: awsRegion,
  prefix,
  base_url: url.optional(),
  credentials: AwsCredentials.optional(),
})
const Vertex = z.strictObject({
  models: common.models,
  overrides: common.overrides,
  type: z.literal('vertex'),
  region: awsRegion,
  project: project.unwrap(),
  base_url: url.optional(),
  credentials: GoogleCredentials.optional(),
})
const Foundry = z.strictObject({
  ...common,
  type: z.literal('foundry'),
  resource,
  base_url: url.optional(),
  credentials: AzureCredentials.optional(),
})
const Gateway = z.strictObject({
  ...common,
  type: z.literal('gateway'),
  base_url: url,
  api: z.enum(['anthropic-messages', 'openai-completions', 'openai-responses']).optional(),
  headers: z.record(word, word).optional(),
})

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'takes a-z, 0-9 and -')
const Providers = z.record(
  name,
  z.discriminatedUnion(
    'type',
    [Bedrock, Vertex, Foundry, Gateway],
    'must be bedrock, vertex, foundry or gateway',
  ),
)

type ModelProviderSettings = z.infer<typeof Providers>[string]
type ProviderNames = { name: string; models: readonly string[] }

/** SECRET: never logged. `apiKey`: where there are no credentials. */
export type OperatorCloud = ProviderNames & {
  cloud: CloudProvider
  credentials: CloudAccess['credentials']
  apiKey: string
}
/** SECRET: never logged */
export type OperatorGateway = ProviderNames & {
  gateway: Extract<ModelProviderSettings, { type: 'gateway' }>
}
export type ModelProvider = OperatorCloud | OperatorGateway

/** For editors of settings files. */
export const modelProvidersSchema = () => schemaInFile(Providers)

export const parseModelProviders = (text: string): ModelProvider[] =>
  Object.entries(parseJsonSetting(Providers, text)).map(([each, given]) => providerOf(each, given))

function providerOf(called: string, given: ModelProviderSettings): ModelProvider {
  const named = { name: called, models: given.models }
  if (given.type === 'gateway') return { ...named, gateway: given }
  const { models: _models, credentials, ...cloud } = given
  const apiKey = 'api_key' in given ? given.api_key : undefined
  if (given.type === 'foundry' && !given.resource && !given.base_url)
    throw new Error(`${called}.resource: is required, or base_url`)
  if (apiKey !== undefined && credentials !== undefined)
    throw new Error(`${called}.api_key: goes not with credentials; give one of them`)
  const usual = apiKey === undefined ? ({ type: 'machine' } as const) : undefined
  return { ...named, cloud, credentials: credentials ?? usual, apiKey: apiKey ?? 'none' }
}
