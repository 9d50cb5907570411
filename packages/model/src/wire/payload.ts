/** Adds parts to the finished request body that the library cannot express. */
import type { ToolSpec } from '../model.ts'
import type { ModelSpec, ModelWire } from '../spec.ts'
import type { Documents, JsonObject } from './documents.ts'
import { betasOf } from './pi-model.ts'
import { type RefusedPart, replaceRefused } from './refused-part.ts'
import { joinTurns } from './turns.ts'
import { wellFormed } from './well-formed.ts'

export function finishPayload(
  wire: ModelWire,
  spec: ModelSpec,
  tools: readonly ToolSpec[],
  documents: Documents,
  {
    refused,
    answerSchema,
  }: { refused?: RefusedPart | undefined; answerSchema?: JsonObject | undefined } = {},
): (payload: unknown) => unknown {
  return (payload) => {
    const body = wellFormed(payload) as JsonObject
    documents.fill(wire, body)
    joinTurns(wire, body)
    if (wire === 'anthropic-messages') finishAnthropic(body, spec, tools)
    if (spec.speed === 'fast' && wire.startsWith('openai-')) body.service_tier = 'priority'
    if (answerSchema) askForSchema[wire](body, answerSchema)
    if (spec.effort === undefined) leaveThinkingToProvider[wire](body)
    if (refused !== undefined && replaceRefused(body, refused) === 0) throw new NothingReplaced()
    return body
  }
}

/** The request is as the provider refused it. */
class NothingReplaced extends Error {
  override readonly name = 'NothingReplaced'
}

function finishAnthropic(body: JsonObject, spec: ModelSpec, tools: readonly ToolSpec[]): void {
  breakBefore(body)
  const schemas = new Map(tools.map((tool) => [tool.name, tool.input_schema]))
  for (const tool of (body.tools ?? []) as JsonObject[]) {
    // The library keeps only `properties` and `required`.
    const schema = schemas.get(String(tool.name))
    if (schema !== undefined) tool.input_schema = { type: 'object', ...schema }
  }
  // It says what is the case without it, and a cloud may not know it yet for a model of before.
  const thinking = body.thinking as JsonObject | undefined
  if (spec.cloud && thinking?.type === 'enabled') delete thinking.display
  const fast = spec.speed === 'fast'
  if (fast) body.speed = 'fast'
  const betas = [
    // A cloud refuses betas that it does not know.
    ...(spec.cloud ? [] : ((body.betas ?? []) as string[])),
    ...betasOf(spec),
    ...(fast ? ['fast-mode-2026-02-01'] : []),
  ]
  if (betas.length > 0) body.betas = [...new Set(betas)]
  else delete body.betas
}

/**
 * Adds a fourth cache mark where the previous request ended; the library marks the end of tools, prompt and
 * conversation. A provider looks back only a limited distance, so a long turn could otherwise miss the cache.
 */
function breakBefore(body: JsonObject): void {
  const messages = (body.messages ?? []) as JsonObject[]
  const answer = messages.findLastIndex(({ role }) => role === 'assistant')
  const asked = messages.slice(0, Math.max(0, answer)).findLast(({ role }) => role === 'user')
  const content = asked?.content
  const last = Array.isArray(content) ? (content.at(-1) as JsonObject | undefined) : undefined
  const newest = messages.at(-1)?.content
  const mark = Array.isArray(newest)
    ? (newest.at(-1) as JsonObject | undefined)?.cache_control
    : undefined
  if (last && mark) last.cache_control = mark
}

const partOf = (body: JsonObject, name: string) => (body[name] ?? {}) as JsonObject

/** Asks for strict output, which the library cannot express. */
const askForSchema: Record<ModelWire, (body: JsonObject, schema: JsonObject) => void> = {
  'anthropic-messages': (body, schema) => {
    const format = { type: 'json_schema', schema }
    body.output_config = { ...partOf(body, 'output_config'), format }
  },
  'openai-completions': (body, schema) => {
    const json_schema = { name: 'answer', schema, strict: true }
    body.response_format = { type: 'json_schema', json_schema }
  },
  'openai-responses': (body, schema) => {
    const format = { type: 'json_schema', name: 'answer', schema, strict: true }
    body.text = { ...partOf(body, 'text'), format }
  },
  'google-generative-ai': (body, schema) => {
    const strict = { responseMimeType: 'application/json', responseJsonSchema: schema }
    body.config = { ...partOf(body, 'config'), ...strict }
  },
}

/** Without an effort the library switches thinking off. Removing the field leaves the decision to the provider. */
const leaveThinkingToProvider: Record<ModelWire, (body: JsonObject) => void> = {
  'anthropic-messages': (body) => delete body.thinking,
  'openai-completions': (body) => delete body.reasoning_effort,
  'openai-responses': (body) => {
    if (body.reasoning === undefined) return
    body.reasoning = { summary: 'auto' }
    body.include = ['reasoning.encrypted_content']
  },
  'google-generative-ai': (body) => delete (body.config as JsonObject | undefined)?.thinkingConfig,
}
