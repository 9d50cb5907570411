/** Translates a request for models of other wires. What such a wire cannot say is refused by name. */
import type {
  AssistantBlock,
  Effort,
  Message,
  MessageOrigin,
  ModelCall,
  TextBlock,
  UserBlock,
} from '@steward/model/model.ts'
import type { MessageCreateParams, MessagePart, SaidMessage } from '@steward/protocol/messages.ts'
import { z } from 'zod'
import { invalid } from '../../../ground/core/errors.ts'
import { parseInput } from '../../../ground/http/bodies/body.ts'

const Text = z.looseObject({ type: z.literal('text'), text: z.string() })
const Base64 = z.looseObject({
  type: z.literal('base64'),
  media_type: z.string(),
  data: z.string(),
})
const PlainText = z.looseObject({ type: z.literal('text'), data: z.string() })
const Document = z.looseObject({
  source: z.looseObject({ type: z.string() }),
  title: z.string().nullish(),
  context: z.string().nullish(),
})
const ToolUse = z.looseObject({
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
})
const ToolResult = z.looseObject({
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  is_error: z.boolean().nullish(),
})
const Thinking = z.looseObject({ thinking: z.string(), signature: z.string().nullish() })
const Redacted = z.looseObject({ data: z.string() })
const ToolSpec = z.looseObject({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
})

const elsewhere = (field: string, what: string) =>
  invalid(`${field}: ${what}: choose a model of a card that speaks anthropic-messages`)

/** Fields that only the wire of Anthropic has. */
const ownFields = [
  'output_format',
  'context_management',
  'inference_geo',
  'top_k',
  'diagnostics',
] as const

function readBase64(field: string, source: unknown): { media_type: string; data: string } {
  const read = Base64.safeParse(source)
  if (read.success) return { media_type: read.data.media_type, data: read.data.data }
  throw invalid(`${field}.source: give this model the bytes, with type base64`)
}

function userBlock(field: string, part: MessagePart): UserBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: parseInput(Text, part).text }
    case 'image':
      return { type: 'image', ...readBase64(field, part['source']) }
    case 'document': {
      const { source, title, context } = parseInput(Document, part)
      const more = { ...(title && { title }), ...(context && { context }) }
      const text = PlainText.safeParse(source)
      if (!text.success) return { type: 'document', ...readBase64(field, source), ...more }
      const data = Buffer.from(text.data.data).toString('base64')
      return { type: 'document', media_type: 'text/plain', data, ...more }
    }
    default:
      throw elsewhere(`${field}.type`, `${part.type} is a block that this model cannot read`)
  }
}

function assistantBlock(field: string, part: MessagePart): AssistantBlock {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: parseInput(Text, part).text }
    case 'thinking': {
      const { thinking, signature } = parseInput(Thinking, part)
      return { type: 'thinking', text: thinking, ...(signature && { state: signature }) }
    }
    case 'redacted_thinking':
      return { type: 'thinking', text: '', redacted: true, state: parseInput(Redacted, part).data }
    case 'tool_use': {
      const { id, name, input } = parseInput(ToolUse, part)
      return { type: 'tool_call', id, name, input }
    }
    default:
      throw elsewhere(`${field}.type`, `${part.type} is a block that this model cannot read`)
  }
}

const asParts = (content: string | readonly MessagePart[] | null | undefined): MessagePart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : [...(content ?? [])]

const textBlocks = (field: string, content: SaidMessage['content'] | null | undefined) =>
  asParts(content).map((part, at): TextBlock => {
    const block = userBlock(`${field}.${at}`, part)
    if (block.type !== 'text') throw invalid(`${field}.${at}.type: must be text`)
    return block
  })

/** `names`: the tools by the ids of their calls. */
function userMessages(
  field: string,
  content: SaidMessage['content'],
  names: ReadonlyMap<string, string>,
): Message[] {
  const results: Message[] = []
  const blocks: UserBlock[] = []
  for (const [at, part] of asParts(content).entries()) {
    const of = `${field}.content.${at}`
    if (part.type !== 'tool_result') {
      blocks.push(userBlock(of, part))
      continue
    }
    const { tool_use_id, content: said, is_error } = parseInput(ToolResult, part)
    const tool_name = names.get(tool_use_id)
    if (tool_name === undefined)
      throw invalid(`${of}.tool_use_id: no call of a message before has the id ${tool_use_id}`)
    results.push({
      role: 'tool_result',
      tool_call_id: tool_use_id,
      tool_name,
      content: asParts(said).map((each, i) => userBlock(`${of}.content.${i}`, each)),
      is_error: is_error ?? false,
    })
  }
  return blocks.length > 0 ? [...results, { role: 'user', content: blocks }] : results
}

function translateMessages(said: readonly SaidMessage[], origin: MessageOrigin): Message[] {
  const names = new Map<string, string>()
  return said.flatMap(({ role, content }, at): Message[] => {
    const field = `messages.${at}`
    if (role === 'system') return [{ role, content: textBlocks(`${field}.content`, content) }]
    if (role === 'user') return userMessages(field, content, names)
    const blocks = asParts(content).map((part, i) => assistantBlock(`${field}.content.${i}`, part))
    for (const block of blocks) if (block.type === 'tool_call') names.set(block.id, block.name)
    return [{ role, content: blocks, origin }]
  })
}

const Effortful = z.looseObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']) })
const Budget = z.looseObject({ type: z.literal('enabled'), budget_tokens: z.int() })

/** The effort that a request asks for, in the words of all wires. */
export function effortOf({ thinking, output_config }: MessageCreateParams): Effort | undefined {
  const { format, effort, ...others } = output_config ?? {}
  if (format !== undefined && format !== null)
    throw elsewhere('output_config.format', 'this model takes no form of its answer')
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw elsewhere(`output_config.${unknown}`, 'this model has no such field')
  if (effort !== undefined && effort !== null) return parseInput(Effortful, { effort }).effort
  const budget = Budget.safeParse(thinking)
  if (!budget.success) return undefined
  if (budget.data.budget_tokens <= 2_048) return 'low'
  return budget.data.budget_tokens <= 12_288 ? 'medium' : 'high'
}

const Choice = z.looseObject({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: z.string().nullish(),
  disable_parallel_tool_use: z.boolean().nullish(),
})

const chosenTool = {
  'openai-completions': (name: string) => ({ type: 'function', function: { name } }),
  'openai-responses': (name: string) => ({ type: 'function', name }),
}

type OpenAiWire = keyof typeof chosenTool
const isOpenAi = (api: string): api is OpenAiWire => Object.hasOwn(chosenTool, api)

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Refuses what the wire of the model cannot say of how it answers. */
function checkSampling(api: string, body: MessageCreateParams, mustCall: boolean): void {
  const taken = {
    temperature: isOpenAi(api),
    top_p: isOpenAi(api),
    stop_sequences: api === 'openai-completions',
  }
  for (const [name, isTaken] of Object.entries(taken))
    if (!isTaken && isGiven(body[name as keyof typeof taken]))
      throw elsewhere(name, `a model that speaks ${api} does not take it here`)
  if (mustCall && !isOpenAi(api))
    throw elsewhere('tool_choice', `a model that speaks ${api} chooses by itself here`)
}

/** Fields of the request's body on wires of OpenAI's dialects. */
export function samplingOf(api: string, body: MessageCreateParams): Record<string, unknown> {
  const { temperature, top_p, stop_sequences } = body
  const choice = body.tool_choice ? parseInput(Choice, body.tool_choice) : undefined
  const mustCall = choice?.type === 'any' || choice?.type === 'tool'
  checkSampling(api, body, mustCall)
  if (!isOpenAi(api)) return {}
  const named = choice?.type === 'tool' ? chosenTool[api](choice.name ?? '') : 'required'
  const fields = {
    temperature,
    top_p,
    stop: stop_sequences,
    tool_choice: mustCall ? named : undefined,
    parallel_tool_calls: choice?.disable_parallel_tool_use ? false : undefined,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))
}

export function translateRequest(
  body: MessageCreateParams,
  origin: MessageOrigin,
): Omit<ModelCall, 'signal'> {
  for (const name of ownFields)
    if (body[name] !== undefined && body[name] !== null)
      throw elsewhere(name, 'this model has no such field')
  const isMute = body.tool_choice?.type === 'none'
  return {
    system: textBlocks('system', body.system)
      .map(({ text }) => text)
      .join('\n\n'),
    messages: translateMessages(body.messages, origin),
    tools: (isMute ? [] : (body.tools ?? [])).map((tool) => {
      const { name, description, input_schema } = parseInput(ToolSpec, tool)
      return { name, description: description ?? '', input_schema }
    }),
    maxTokens: body.max_tokens,
  }
}
