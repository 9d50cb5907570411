/** Shows the answer of a model of another wire as the events, or the message, that the official client expects. */
import type { AssistantBlock, ModelEvent } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { MessageEvent } from './answer.ts'
import type { UsageMeter } from './usage-meter.ts'
import { messageError, shownUsage } from './answer.ts'

type NamedMessage = { id: string; model: string }

const emptyMessage = ({ id, model }: NamedMessage) => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: shownUsage(noUsage),
})

function shownBlock(block: AssistantBlock): MessageEvent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'thinking':
      return block.redacted
        ? { type: 'redacted_thinking', data: block.state ?? '' }
        : { type: 'thinking', thinking: block.text, signature: block.state ?? '' }
    case 'tool_call':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input }
  }
}

function begunBlock(event: Extract<ModelEvent, { type: 'block_start' }>): MessageEvent {
  return event.block === 'tool_call'
    ? { type: 'tool_use', id: event.id, name: event.name, input: {} }
    : { type: 'text', text: '' }
}

const deltas = {
  text: (text: string) => ({ type: 'text_delta', text }),
  thinking: (thinking: string) => ({ type: 'thinking_delta', thinking }),
  tool_call: (partial_json: string) => ({ type: 'input_json_delta', partial_json }),
}

/** A call that is not whole must not run. */
function checkWhole(block: AssistantBlock): void {
  if (block.type === 'tool_call' && block.fault !== undefined)
    throw new PlatformError(
      'bad_gateway',
      `the model called ${block.name} with an input that is not whole: ${block.fault}`,
    )
}

/** A thought is shown once it is known whether it is redacted. */
type OpenThought = { index: number }

/**
 * Throws the error of a request that failed. Tokens are known at the end, so the first event says 0 and the last one but
 * one says all.
 */
export async function* messageEvents(
  events: AsyncIterable<ModelEvent>,
  of: NamedMessage,
  meter: UsageMeter,
): AsyncGenerator<MessageEvent> {
  let isBegun = false
  let kind: keyof typeof deltas = 'text'
  let thought: OpenThought | undefined
  for await (const event of events) {
    if (event.type === 'failed') {
      meter.end(event.usage)
      throw messageError(event.failure)
    }
    if (!isBegun) {
      isBegun = true
      meter.begin()
      yield { type: 'message_start', message: emptyMessage(of) }
      yield { type: 'ping' }
    }
    switch (event.type) {
      case 'block_start': {
        kind = event.block
        const { index } = event
        if (kind === 'thinking') thought = { index }
        else yield { type: 'content_block_start', index, content_block: begunBlock(event) }
        break
      }
      case 'delta': {
        const { index, delta } = event
        meter.grew(delta.length)
        if (thought) {
          yield* thoughtStart(thought)
          thought = undefined
        }
        yield { type: 'content_block_delta', index, delta: deltas[kind](delta) }
        break
      }
      case 'block_end': {
        checkWhole(event.block)
        yield* blockEnd(event, thought)
        thought = undefined
        break
      }
      case 'end': {
        meter.end(event.usage)
        const delta = { stop_reason: event.stop, stop_sequence: null }
        yield { type: 'message_delta', delta, usage: shownUsage(event.usage) }
        yield { type: 'message_stop' }
      }
    }
  }
}

function* thoughtStart({ index }: OpenThought): Generator<MessageEvent> {
  const content_block = { type: 'thinking', thinking: '', signature: '' }
  yield { type: 'content_block_start', index, content_block }
}

function* blockEnd(
  { index, block }: Extract<ModelEvent, { type: 'block_end' }>,
  thought: OpenThought | undefined,
): Generator<MessageEvent> {
  if (block.type === 'thinking') {
    if (block.redacted && thought)
      yield { type: 'content_block_start', index, content_block: shownBlock(block) }
    else {
      if (thought) yield* thoughtStart(thought)
      const delta = { type: 'signature_delta', signature: block.state ?? '' }
      if (block.state) yield { type: 'content_block_delta', index, delta }
    }
  }
  yield { type: 'content_block_stop', index }
}

/** The whole message. Throws the error of a request that failed. */
export async function wholeMessage(
  events: AsyncIterable<ModelEvent>,
  of: NamedMessage,
  meter: UsageMeter,
): Promise<object> {
  const content: MessageEvent[] = []
  for await (const event of events) {
    meter.begin()
    if (event.type === 'delta') meter.grew(event.delta.length)
    if (event.type === 'block_end') {
      checkWhole(event.block)
      content.push(shownBlock(event.block))
    }
    if (event.type === 'failed') {
      meter.end(event.usage)
      throw messageError(event.failure)
    }
    if (event.type === 'end') {
      meter.end(event.usage)
      return {
        ...emptyMessage(of),
        content,
        stop_reason: event.stop,
        usage: shownUsage(event.usage),
      }
    }
  }
  throw new Error('the model ended without a last event')
}
