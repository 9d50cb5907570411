import type { StubAnswer, StubDialect, StubBlock } from './stub-server.ts'
import { formatSse } from './stub-server.ts'

/** OpenAI's Responses API. */
export const openaiResponsesDialect: StubDialect = {
  frames(answer) {
    const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] }
    return [
      event({ type: 'response.created', response }),
      ...answer.blocks.flatMap((block, i) => itemEvents(block, i)),
      event({
        type: stopped[answer.stop] === undefined ? 'response.completed' : 'response.incomplete',
        response: {
          ...response,
          status: stopped[answer.stop] === undefined ? 'completed' : 'incomplete',
          incomplete_details: stopped[answer.stop] && { reason: stopped[answer.stop] },
          usage: usageOf(answer),
        },
      }),
    ]
  },
  error: (_status, type, message) => JSON.stringify({ error: { message, type, code: type } }),
}

const stopped: Record<StubAnswer['stop'], string | undefined> = {
  end_turn: undefined,
  tool_use: undefined,
  max_tokens: 'max_output_tokens',
  refusal: 'content_filter',
}

function usageOf(answer: StubAnswer) {
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...answer.usage }
  return {
    input_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
    output_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  }
}

function event(data: { type: string } & Record<string, unknown>): string {
  return formatSse(data, data.type)
}

function itemEvents(block: StubBlock, output_index: number): string[] {
  const whole = block.pieces.join('')
  const about = { output_index, item_id: `item_${output_index}` }
  const deltas = (type: string) =>
    block.pieces.map((delta) => event({ type: `response.${type}.delta`, ...about, delta }))
  const around = (
    item: Record<string, unknown>,
    begun: Record<string, unknown>,
    inner: string[],
  ) => [
    event({ type: 'response.output_item.added', output_index, item: { ...item, ...begun } }),
    ...inner,
    event({ type: 'response.output_item.done', output_index, item }),
  ]
  switch (block.type) {
    case 'text': {
      const content = [{ type: 'output_text', text: whole, annotations: [] }]
      const item = { type: 'message', id: `msg_${output_index}`, role: 'assistant', content }
      return around(item, { content: [] }, deltas('output_text'))
    }
    case 'thinking': {
      const summary = whole === '' ? [] : [{ type: 'summary_text', text: whole }]
      const item = {
        type: 'reasoning',
        id: `rs_${output_index}`,
        summary,
        encrypted_content: block.signature,
      }
      return around(item, { summary: [] }, deltas('reasoning_summary_text'))
    }
    case 'tool_call': {
      const [call_id, id] = block.id.split('|')
      const item = { type: 'function_call', id, call_id, name: block.name, arguments: whole }
      const done = { type: 'response.function_call_arguments.done', ...about, arguments: whole }
      return around(item, { arguments: '' }, [...deltas('function_call_arguments'), event(done)])
    }
  }
}
