/** For tests: reads an answer to its end and checks the contract of every model. */
import assert from 'node:assert/strict'
import type { AssistantBlock, Message, Model, ModelEvent, ToolSpec } from '../model.ts'

export const stubKey = 'sk-test-0123456789abcdef'
export const userText = (text: string): Message => ({
  role: 'user',
  content: [{ type: 'text', text }],
})
export const bashSpec: ToolSpec = {
  name: 'bash',
  description: 'Runs a command',
  input_schema: {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
    additionalProperties: false,
  },
}

export async function readModelAnswer(
  model: Model,
  messages: Message[],
  more: { tools?: ToolSpec[]; signal?: AbortSignal; cacheKey?: string } = {},
) {
  const events: ModelEvent[] = []
  const call = { system: 'Be brief.', messages, tools: more.tools ?? [], cacheKey: more.cacheKey }
  for await (const event of model.stream({
    ...call,
    signal: more.signal ?? new AbortController().signal,
  })) {
    events.push(event)
  }
  return { events, blocks: checkOrder(events), last: events.at(-1) }
}

/** Checks that blocks come one after the other and that exactly one last event ends them. */
export function checkOrder(events: ModelEvent[]): AssistantBlock[] {
  const blocks: AssistantBlock[] = []
  let open: { index: number; kind: string; text: string } | undefined
  for (const [i, event] of events.entries()) {
    const isLast = i === events.length - 1
    assert.equal(
      event.type === 'end' || event.type === 'failed',
      isLast,
      'one last event, at the end',
    )
    if (event.type === 'end') assert.equal(open, undefined, 'every block has ended')
    if (event.type === 'block_start') {
      assert.equal(open, undefined, 'no block begins in another')
      assert.equal(event.index, blocks.length)
      open = { index: event.index, kind: event.block, text: '' }
    } else if (event.type === 'delta') {
      assert.equal(event.index, open?.index)
      assert.notEqual(event.delta, '')
      if (open !== undefined) open.text += event.delta
    } else if (event.type === 'block_end') {
      assert.equal(event.index, open?.index)
      assert.equal(event.block.type, open?.kind)
      if (event.block.type === 'tool_call')
        assert.deepEqual(JSON.parse(open?.text || '{}'), event.block.input)
      else assert.equal(event.block.text, open?.text)
      blocks.push(event.block)
      open = undefined
    }
  }
  return blocks
}
