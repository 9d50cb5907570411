/** For tests: a model with scripted answers. */
import { noUsage } from '@steward/model/model.ts'
import type {
  AssistantBlock,
  Model,
  ModelCall,
  ModelEvent,
  ModelFailure,
  Usage,
} from '@steward/model/model.ts'

/** One answer: whole blocks, possibly an unfinished block, and its end. */
export type ScriptedAnswer = {
  blocks?: AssistantBlock[]
  /** A block without an end. */
  half?: { block: 'text' | 'thinking'; text: string } | { block: 'tool_call'; name: string }
  /** `hang` sends nothing more until the call is aborted. */
  end?: Extract<ModelEvent, { type: 'end' }>['stop'] | ModelFailure | 'hang'
  usage?: Usage
}

export type FakeModel = Model & {
  readonly calls: ModelCall[]
  /** Number of streams that have begun and not ended. */
  readonly open: () => number
}

const aborted: ModelFailure = { kind: 'aborted', retryable: false, message: 'aborted' }

/** Gives the answers in order. A request beyond the last answer is an error of the test. */
export function fakeModel(answers: Iterable<ScriptedAnswer>): FakeModel {
  const script = answers[Symbol.iterator]()
  const calls: ModelCall[] = []
  let open = 0

  async function* stream(call: ModelCall): AsyncGenerator<ModelEvent> {
    calls.push({ ...call, messages: structuredClone(call.messages) })
    const said = script.next()
    if (said.done) throw new Error('the model was asked once more than its script has answers')
    open++
    try {
      for (const event of eventsOf(said.value)) {
        await Promise.resolve()
        if (call.signal.aborted) yield { type: 'failed', failure: aborted, usage: noUsage }
        if (call.signal.aborted) return
        yield event
      }
      if (said.value.end === 'hang') {
        await untilAborted(call.signal)
        yield { type: 'failed', failure: aborted, usage: said.value.usage ?? noUsage }
      }
    } finally {
      open--
    }
  }

  return {
    origin: { provider: 'fake', api: 'fake', model: 'fake-1' },
    contextWindow: 100_000,
    maxOutputTokens: 10_000,
    input: ['text', 'image', 'document'],
    stream,
    calls,
    open: () => open,
  }
}

function* eventsOf({
  blocks = [],
  half,
  end,
  usage = noUsage,
}: ScriptedAnswer): Generator<ModelEvent> {
  for (const [index, block] of blocks.entries()) {
    yield begun(index, block)
    const text = block.type === 'tool_call' ? JSON.stringify(block.input) : block.text
    for (const delta of text.match(/.{1,7}/gsu) ?? []) yield { type: 'delta', index, delta }
    yield { type: 'block_end', index, block }
  }
  const index = blocks.length
  if (half?.block === 'tool_call') {
    yield { type: 'block_start', index, block: 'tool_call', id: 'call_half', name: half.name }
    yield { type: 'delta', index, delta: '{"half' }
  } else if (half) {
    yield { type: 'block_start', index, block: half.block }
    yield { type: 'delta', index, delta: half.text }
  }
  if (end === 'hang') return
  if (typeof end === 'object') yield { type: 'failed', failure: end, usage }
  else yield { type: 'end', stop: end ?? stopOf(blocks), usage }
}

const stopOf = (blocks: AssistantBlock[]) =>
  blocks.some(({ type }) => type === 'tool_call') ? 'tool_use' : 'end_turn'

function begun(index: number, block: AssistantBlock): ModelEvent {
  if (block.type !== 'tool_call') return { type: 'block_start', index, block: block.type }
  return { type: 'block_start', index, block: 'tool_call', id: block.id, name: block.name }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
