/** How to speak to a language model. Wires differ below this door; nothing above it can tell. */

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

/** `state` is what the wire needs to see again with the block (a signature, an item id); opaque, never shown. */
export type AssistantBlock =
  | { type: 'text'; text: string; state?: string }
  | { type: 'thinking'; text: string; redacted?: boolean; state?: string }
  | { type: 'tool_call'; id: string; name: string; input: Record<string, unknown>; state?: string }

/** Which model wrote an assistant message: another model's `state` is dropped by the wire. */
export type Origin = { provider: string; api: string; model: string }

export type Message =
  | { role: 'user'; content: UserBlock[] }
  /** An instruction in mid conversation; wires without such a role send it as a marked user text. */
  | { role: 'system'; content: TextBlock[] }
  | { role: 'assistant'; content: AssistantBlock[]; origin: Origin }
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
  /** Stable for a session: keeps a provider's prompt cache on one machine. */
  cacheKey?: string
  maxTokens?: number
  signal: AbortSignal
}

export type Usage = {
  /** Tokens read afresh, not from a cache. */
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
  /** Whether the same call may succeed later. */
  retryable: boolean
  message: string
  status?: number
  retryAfterMs?: number
}

/**
 * `index` counts blocks of this message from 0. Every block begins, receives any number of deltas and ends, one
 * after the other. For a tool call the deltas are pieces of the JSON of its input.
 */
export type ModelEvent =
  | { type: 'block_start'; index: number; block: 'text' | 'thinking' }
  | { type: 'block_start'; index: number; block: 'tool_call'; id: string; name: string }
  | { type: 'delta'; index: number; delta: string }
  | { type: 'block_end'; index: number; block: AssistantBlock }
  | { type: 'end'; stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal'; usage: Usage }
  /** `usage` is what was counted before the failure. */
  | { type: 'failed'; failure: ModelFailure; usage: Usage }

export interface Model {
  readonly origin: Origin
  /** Tokens. */
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly input: readonly ('text' | 'image' | 'document')[]
  /** Never throws: the last event is `end` or `failed`, exactly once; nothing comes after an abort but `failed`. */
  stream(call: ModelCall): AsyncIterable<ModelEvent>
}

export const noUsage: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}
