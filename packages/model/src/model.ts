/** The interface of a language model. Code above it cannot tell one wire from another. */

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'
export type Speed = 'standard' | 'fast'

export type TextBlock = { type: 'text'; text: string }
/** `data` is base64. */
export type ImageBlock = { type: 'image'; media_type: string; data: string }
export type DocumentBlock = {
  type: 'document'
  media_type: string
  data: string
  title?: string
  context?: string
}
export type UserBlock = TextBlock | ImageBlock | DocumentBlock

/**
 * `state`: data that the wire needs with the block in later requests (a signature, an item id). Opaque; never shown.
 */
export type AssistantBlock =
  | { type: 'text'; text: string; state?: string }
  | { type: 'thinking'; text: string; redacted?: boolean; state?: string }
  /** `fault`: the reason why the input was not whole JSON. Such a call has no input, and must not run. */
  | {
      type: 'tool_call'
      id: string
      name: string
      input: Record<string, unknown>
      fault?: string
      state?: string
    }

/** The model that wrote an assistant message. The wire drops the `state` of another model's blocks. */
export type MessageOrigin = { provider: string; api: string; model: string }

export type Message =
  | { role: 'user'; content: UserBlock[] }
  /** An instruction within the conversation. Wires without this role send it as a marked user text. */
  | { role: 'system'; content: TextBlock[] }
  | { role: 'assistant'; content: AssistantBlock[]; origin: MessageOrigin }
  | {
      role: 'tool_result'
      tool_call_id: string
      tool_name: string
      content: UserBlock[]
      is_error: boolean
    }

/** `input_schema` is a JSON Schema of type object. */
export type ToolSpec = { name: string; description: string; input_schema: Record<string, unknown> }

export type ModelCall = {
  system: string
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  /** A JSON Schema that the text of the answer must match. */
  answerSchema?: Record<string, unknown>
  /** The same for all calls of a session, so that they reach the same prompt cache. */
  cacheKey?: string
  /** W3C Trace Context, for the request's header of that name. */
  traceparent?: string
  maxTokens?: number
  signal: AbortSignal
}

export type Usage = {
  /** Tokens that were not read from a cache. */
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number
  cache_creation_input_tokens: number
}

export type ModelFailure = {
  kind:
    | 'overloaded'
    | 'rate_limited'
    | 'billing'
    | 'authentication'
    | 'context_overflow'
    | 'unreachable'
    | 'refused_address'
    | 'request_failed'
    | 'aborted'
  /** True when the same call may succeed later. */
  retryable: boolean
  message: string
  status?: number
  retryAfterMs?: number
}

/**
 * `index` counts the blocks of this message from 0. Blocks come one after the other; each begins, receives any number
 * of deltas and ends. The deltas of a tool call are pieces of its input's JSON.
 */
export type ModelEvent =
  | { type: 'block_start'; index: number; block: 'text' | 'thinking' }
  | { type: 'block_start'; index: number; block: 'tool_call'; id: string; name: string }
  | { type: 'delta'; index: number; delta: string }
  | { type: 'block_end'; index: number; block: AssistantBlock }
  | { type: 'end'; stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal'; usage: Usage }
  /** `usage`: tokens counted before the failure. */
  | { type: 'failed'; failure: ModelFailure; usage: Usage }

export interface Model {
  readonly origin: MessageOrigin
  /** The cloud that answers in place of the provider of `origin`. */
  readonly servedBy?: string
  /** Size of the context in tokens. */
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly input: readonly ('text' | 'image' | 'document')[]
  /** Never throws. The last event is `end` or `failed`, exactly once. After an abort no event but `failed` comes. */
  stream(call: ModelCall): AsyncIterable<ModelEvent>
}

export const noUsage: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}
