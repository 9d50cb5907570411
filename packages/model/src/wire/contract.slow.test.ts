import { wireContract } from './contract.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'

const openaiErrors = {
  rateLimited: 'rate_limit_exceeded',
  overloaded: 'server_error',
  invalid: 'invalid_request_error',
  authentication: 'invalid_api_key',
}
const native_config = { reasoning: true, input: ['text', 'image', 'document'] }

wireContract('Anthropic Messages', {
  dialect: anthropicDialect,
  spec: { provider: 'anthropic', api: 'anthropic-messages', model: 'claude-test', native_config },
  errors: {
    rateLimited: 'rate_limit_error',
    overloaded: 'overloaded_error',
    invalid: 'invalid_request_error',
    authentication: 'authentication_error',
  },
  overflowMessage: 'prompt is too long: 213462 tokens > 200000 maximum',
  callId: (n) => `toolu_${n}`,
  signature: 'c2lnbmF0dXJl',
})

wireContract('OpenAI Chat Completions', {
  dialect: openaiChatDialect,
  spec: { provider: 'openai', api: 'openai-completions', model: 'gpt-test', native_config },
  errors: openaiErrors,
  overflowMessage: "This model's maximum context length is 128000 tokens.",
  callId: (n) => `call_${n}`,
  signature: 'reasoning_content',
})

wireContract('OpenAI Responses', {
  dialect: openaiResponsesDialect,
  spec: { provider: 'openai', api: 'openai-responses', model: 'gpt-test', native_config },
  errors: openaiErrors,
  overflowMessage: 'Your input exceeds the context window of this model.',
  callId: (n) => `call_${n}|fc_${n}`,
  signature: 'c2lnbmF0dXJl',
})

wireContract('Google', {
  dialect: googleDialect,
  spec: { provider: 'google', api: 'google-generative-ai', model: 'gemini-3-flash', native_config },
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
