/** A model without a network. It follows commands in the user's text, see docs/offline-model.md. */
import { setImmediate } from 'node:timers/promises'
import type { AssistantBlock, Message, Model, ModelCall, ModelEvent, Usage } from './model.ts'
import { planReply, type ReplyBlock } from './offline/plan.ts'

/**
 * `thinkMs`: delay before the answer. A program that posts a message and opens the stream afterwards would miss a turn
 * without any delay.
 */
export function offlineModel({ thinkMs }: { thinkMs: number }): Model {
  return {
    origin: { provider: 'offline', api: 'offline', model: 'offline' },
    contextWindow: 200_000,
    maxOutputTokens: 32_000,
    input: ['text', 'image', 'document'],
    stream: (call) => answer(call, thinkMs),
  }
}

async function* answer(call: ModelCall, thinkMs: number): AsyncGenerator<ModelEvent> {
  const reply = planReply(call.messages, call.tools)
  const input = tokens(call.system) + sum(call.messages.map(tokensOf))
  let written = 0
  const usage = (): Usage => ({ ...cached(call, input), output_tokens: Math.ceil(written / 4) })
  const aborted = (): ModelEvent => ({
    type: 'failed',
    failure: { kind: 'aborted', retryable: false, message: 'The call was aborted' },
    usage: usage(),
  })
  const isMessage = call.messages.at(-1)?.role === 'user'
  await pause(reply.waitMs + (isMessage ? thinkMs : 0), call.signal)
  for (const [index, block] of reply.blocks.entries()) {
    if (call.signal.aborted) return yield aborted()
    yield block.type === 'tool_call'
      ? { type: 'block_start', index, block: block.type, id: block.id, name: block.name }
      : { type: 'block_start', index, block: block.type }
    let n = 0
    for (const [delta] of pieces(block)) {
      if (++n % 64 === 0) await setImmediate()
      if (call.signal.aborted) return yield aborted()
      written += delta.length
      yield { type: 'delta', index, delta }
    }
    if (call.signal.aborted) return yield aborted()
    yield { type: 'block_end', index, block: finished(block) }
  }
  if (call.signal.aborted) return yield aborted()
  yield 'stop' in reply.outcome
    ? { type: 'end', stop: reply.outcome.stop, usage: usage() }
    : { type: 'failed', failure: reply.outcome.failure, usage: usage() }
}

/**
 * Words with the white space after them, or pieces of a call's JSON input. Found one by one, because there may be
 * millions.
 */
function pieces(block: ReplyBlock): Iterable<RegExpExecArray> {
  const text = block.type === 'tool_call' ? JSON.stringify(block.input) : block.text
  return text.matchAll(block.type === 'tool_call' ? /[^]{1,24}/g : /\s*\S+\s*|\s+/g)
}

function finished(block: ReplyBlock): AssistantBlock {
  return block.type === 'thinking' ? { ...block, type: 'thinking' } : (block as AssistantBlock)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const stop = () => resolve()
  signal.addEventListener('abort', stop, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
}

/** Usage as with a prompt cache: earlier requests of the session are read from the cache. */
function cached(call: ModelCall, input: number): Omit<Usage, 'output_tokens'> {
  const asked = call.messages.findLastIndex((message) => message.role === 'assistant')
  const known =
    asked === -1 ? 0 : tokens(call.system) + sum(call.messages.slice(0, asked).map(tokensOf))
  return {
    input_tokens: input - known,
    cache_read_input_tokens: known,
    cache_creation_input_tokens: 0,
  }
}

function tokensOf(message: Message): number {
  return sum(
    message.content.map((block) => {
      if ('text' in block) return tokens(block.text)
      return 'input' in block ? tokens(JSON.stringify(block.input)) : 1_200
    }),
  )
}

const tokens = (text: string) => Math.ceil(text.length / 4)
const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0)
