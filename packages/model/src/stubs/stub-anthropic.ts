import type { StubAnswer, StubDialect, StubBlock } from './stub-server.ts'
import { formatSse } from './stub-server.ts'

/** Anthropic's Messages API. */
export const anthropicDialect: StubDialect = {
  frames(answer) {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...answer.usage }
    const counted = {
      input_tokens: usage.input,
      output_tokens: 1,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
    }
    return [
      event({ type: 'message_start', message: { ...message, usage: counted } }),
      ...answer.blocks.flatMap((block, index) => [
        event({ type: 'content_block_start', index, content_block: startOf(block) }),
        ...deltasOf(block).map((delta) => event({ type: 'content_block_delta', index, delta })),
        event({ type: 'content_block_stop', index }),
      ]),
      event({
        type: 'message_delta',
        delta: { stop_reason: answer.stop, stop_sequence: null },
        usage: { output_tokens: usage.output },
      }),
      event({ type: 'message_stop' }),
    ]
  },
  error: (_status, type, text) =>
    JSON.stringify({ type: 'error', error: { type, message: text }, request_id: 'req_1' }),
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'stub',
  content: [],
  stop_reason: null,
  stop_sequence: null,
}

function event(data: { type: string } & Record<string, unknown>): string {
  return formatSse(data, data.type)
}

function startOf(block: StubBlock): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return block.pieces.length === 0
        ? { type: 'redacted_thinking', data: block.signature }
        : { type: 'thinking', thinking: '', signature: '' }
    case 'tool_call':
      return { type: 'tool_use', id: block.id, name: block.name, input: {} }
  }
}

function deltasOf(block: StubAnswer['blocks'][number]): Record<string, unknown>[] {
  switch (block.type) {
    case 'text':
      return block.pieces.map((text) => ({ type: 'text_delta', text }))
    case 'thinking':
      if (block.pieces.length === 0) return []
      return [
        ...block.pieces.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'tool_call':
      return block.pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  }
}
