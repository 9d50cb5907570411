import type { StubAnswer, StubDialect } from './stub-server.ts'
import { formatSse } from './stub-server.ts'

/** OpenAI's Chat Completions, with the `reasoning_content` of open-source servers. */
export const openaiChatDialect: StubDialect = {
  frames(answer) {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...answer.usage }
    let calls = 0
    const deltas = answer.blocks.flatMap((block): Record<string, unknown>[] => {
      switch (block.type) {
        case 'text':
          return block.pieces.map((content) => ({ content }))
        case 'thinking':
          return block.pieces.map((reasoning_content) => ({ reasoning_content }))
        case 'tool_call': {
          const index = calls++
          const head = { index, id: block.id, type: 'function' }
          return [
            { tool_calls: [{ ...head, function: { name: block.name, arguments: '' } }] },
            ...block.pieces.map((piece) => ({
              tool_calls: [{ index, function: { arguments: piece } }],
            })),
          ]
        }
      }
    })
    return [
      chunk([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]),
      ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
      chunk([{ index: 0, delta: {}, finish_reason: reasons[answer.stop] }]),
      chunk([], {
        usage: {
          prompt_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
          completion_tokens: usage.output,
          prompt_tokens_details: {
            cached_tokens: usage.cacheRead,
            cache_write_tokens: usage.cacheWrite,
          },
        },
      }),
      'data: [DONE]\n\n',
    ]
  },
  error: (_status, type, message) => JSON.stringify({ error: { message, type, code: type } }),
}

const reasons: Record<StubAnswer['stop'], string> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
}

function chunk(choices: unknown[], more?: Record<string, unknown>): string {
  return formatSse({
    id: 'chat_1',
    object: 'chat.completion.chunk',
    model: 'stub',
    choices,
    ...more,
  })
}
