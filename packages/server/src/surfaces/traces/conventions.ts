/**
 * Names of spans and attributes: OpenTelemetry's semantic conventions for generative AI (semantic-conventions-genai at
 * its state of November 2026, "Development") and for HTTP (1.45). Only this file follows changes of the conventions.
 */
export const attributeNames = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  isStream: 'gen_ai.request.stream',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  errorType: 'error.type',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  requestId: 'steward.request.id',
  stopReason: 'steward.turn.stop_reason',
} as const

export const operationNames = {
  turn: 'invoke_agent',
  model: 'chat',
  tool: 'execute_tool',
} as const
