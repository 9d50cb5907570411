/** Claude at the clouds, by the contract of every wire. */
import { after, describe } from 'node:test'
import { awsKeys, awsRoutes } from '@steward/cloud/stubs/stub-aws.ts'
import { azureClient, azureRoutes } from '@steward/cloud/stubs/stub-azure.ts'
import { googleRoutes } from '@steward/cloud/stubs/stub-google.ts'
import { startStubCloud } from '@steward/cloud/stubs/stub-server.ts'
import { cloudAuthority } from '../cloud/authority.ts'
import { stubKey } from '../stubs/read-answer.ts'
import { bedrockDialect, refuseUnsigned } from '../stubs/stub-bedrock.ts'
import { foundryDialect } from '../stubs/stub-foundry.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { vertexDialect } from '../stubs/stub-vertex.ts'
import { wireContract } from './contract.ts'

const [aws, google, azure] = [awsRoutes(), googleRoutes(), azureRoutes()]
const cloud = await startStubCloud(...aws.routes, ...google.routes, ...azure.routes)
const authority = cloudAuthority({ fetch: cloud.fetch })

const claude = {
  authority,
  errors: {
    rateLimited: 'rate_limit_error',
    overloaded: 'overloaded_error',
    invalid: 'invalid_request_error',
    authentication: 'authentication_error',
  },
  callId: (n: number) => `toolu_${n}`,
  signature: 'c2lnbmF0dXJl',
}
const spec = {
  provider: 'anthropic',
  api: 'anthropic-messages',
  model: 'claude-test',
  native_config: { reasoning: true, input: ['text', 'image', 'document'] },
}
const bedrock = {
  type: 'bedrock',
  region: 'eu-central-1',
  model: 'eu.anthropic.claude-test-v1:0',
} as const
const credentials = {
  type: 'aws_keys',
  access_key_id: awsKeys.accessKeyId,
  secret_access_key: awsKeys.secretAccessKey,
} as const

void describe('Claude at the clouds', () => {
  after(() => cloud[Symbol.asyncDispose]())
  wireContract('Claude on Bedrock, signed', {
    ...claude,
    dialect: bedrockDialect({ keys: aws.keys, apiKey: stubKey }),
    spec: { ...spec, cloud: { ...bedrock, credentials } },
    overflowMessage: 'Input is too long for requested model.',
  })

  wireContract('Claude on Bedrock, with an API key', {
    ...claude,
    dialect: bedrockDialect({ apiKey: stubKey }),
    spec: { ...spec, cloud: bedrock },
    overflowMessage: 'Input is too long for requested model.',
  })

  wireContract('Claude on Vertex AI', {
    ...claude,
    dialect: vertexDialect(google.tokens),
    spec: {
      ...spec,
      cloud: {
        type: 'vertex',
        region: 'europe-west1',
        project: 'stub-project',
        model: 'claude-test@20250929',
        credentials: google.key,
      },
    },
    overflowMessage: 'prompt is too long: 213462 tokens > 200000 maximum',
  })

  wireContract('Claude on Foundry, with an API key', {
    ...claude,
    dialect: foundryDialect({ apiKey: stubKey }),
    spec: { ...spec, cloud: { type: 'foundry', model: 'claude-test' } },
    overflowMessage: 'prompt is too long: 213462 tokens > 200000 maximum',
  })

  wireContract('Claude on Foundry, with an identity', {
    ...claude,
    dialect: foundryDialect({ tokens: azure.tokens }),
    spec: { ...spec, cloud: { type: 'foundry', model: 'claude-test', credentials: azureClient } },
    overflowMessage: 'prompt is too long: 213462 tokens > 200000 maximum',
  })

  wireContract('a model of Bedrock by the wire of OpenAI, signed', {
    authority,
    dialect: {
      ...openaiChatDialect,
      refuse: (request) => refuseUnsigned({ keys: aws.keys, apiKey: stubKey }, request),
    },
    spec: {
      provider: 'bedrock',
      api: 'openai-completions',
      model: 'openai.gpt-test-1:0',
      native_config: { reasoning: true, input: ['text', 'image', 'document'] },
      cloud: { ...bedrock, model: 'openai.gpt-test-1:0', credentials },
    },
    errors: {
      rateLimited: 'rate_limit_exceeded',
      overloaded: 'server_error',
      invalid: 'invalid_request_error',
      authentication: 'invalid_api_key',
    },
    overflowMessage: "This model's maximum context length is 128000 tokens.",
    callId: (n) => `call_${n}`,
    signature: 'reasoning_content',
  })

  wireContract('Gemini on Vertex AI', {
    authority,
    dialect: {
      ...googleDialect,
      refuse({ headers }) {
        const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
        const isIn = google.tokens.has(token) && headers['x-goog-api-key'] === undefined
        return isIn
          ? undefined
          : { status: 401, body: googleDialect.error(401, 'UNAUTHENTICATED', 'No') }
      },
    },
    spec: {
      provider: 'vertex',
      api: 'google-generative-ai',
      model: 'gemini-3-flash',
      native_config: { reasoning: true, input: ['text', 'image', 'document'] },
      cloud: {
        type: 'vertex',
        region: 'global',
        project: 'stub-project',
        model: 'gemini-3-flash',
        credentials: google.key,
      },
    },
    errors: {
      rateLimited: 'RESOURCE_EXHAUSTED',
      overloaded: 'UNAVAILABLE',
      invalid: 'INVALID_ARGUMENT',
      authentication: 'PERMISSION_DENIED',
    },
    overflowMessage:
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)',
    callId: (n) => `call_${n}`,
    signature: 'c2lnbmF0dXJl',
    skip: [
      { reason: 'its client hides headers; the body says how long', cases: ['retry-after header'] },
    ],
  })
})
