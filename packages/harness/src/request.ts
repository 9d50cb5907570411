/** One request to the model: frames as it streams, its events when it is whole. */
import type {
  AssistantBlock,
  ModelEvent,
  ModelFailure,
  ToolSpec,
  Usage,
} from '@steward/model/model.ts'
import type { Message } from '@steward/model/model.ts'
import type { Opaque } from './history.ts'
import type { Kept, StreamedType, Tool, Turn, TurnStep } from './turn.ts'

export type CallMade = {
  eventId: string
  name: string
  input: Record<string, unknown>
  truncated: boolean
}

/** `kept` ends with `span.model_request_end`; it is the caller's to keep. */
export type Asked = {
  kept: Kept[]
  calls: CallMade[]
  stop: 'end_turn' | 'tool_use' | 'max_tokens' | 'refusal' | 'failed' | 'interrupted'
  failure?: ModelFailure
}

type Open = { id: string; of: StreamedType; text: string }

const streamed: Record<'text' | 'thinking' | 'tool_call', StreamedType> = {
  text: 'agent.message',
  thinking: 'agent.thinking',
  tool_call: 'agent.tool_use_input',
}

export async function* askModel(
  turn: Turn,
  messages: readonly Message[],
  tools: ReadonlyMap<string, Tool>,
  begun?: string,
): AsyncGenerator<TurnStep, Asked, void> {
  const { model, system, cacheKey, signal } = turn
  const startId = begun ?? turn.newEventId()
  const began = performance.now()
  // A model request may be repeated, so it need not wait for its own record.
  const specs = [...tools.values()].map(specOf)
  const stream = model
    .stream({ system, messages, tools: specs, cacheKey, signal })
    [Symbol.asyncIterator]()
  const next = stream.next()
  if (!begun) yield keep([{ event: { id: startId, type: 'span.model_request_start' } }])
  const answer = reader(turn, tools)
  let first = true
  try {
    for (let step = await next; !step.done; step = await stream.next()) {
      const event = step.value
      if (event.type === 'end') return finish(turn, startId, answer, event.usage, event.stop)
      if (event.type === 'failed') return fail(turn, startId, answer, event.usage, event.failure)
      if (first)
        yield {
          type: 'frame',
          frame: { kind: 'first_token', id: startId, ms: Math.round(performance.now() - began) },
        }
      first = false
      yield* answer.take(event)
    }
    throw new Error('the model ended its stream without an end')
  } finally {
    await stream.return?.()
  }
}

const keep = (kept: Kept[]): TurnStep => ({ type: 'keep', kept })
const specOf = ({ name, description, input_schema }: Tool): ToolSpec => ({
  name,
  description,
  input_schema,
})

/** Collects what the model says, block by block. */
function reader(turn: Turn, tools: ReadonlyMap<string, Tool>) {
  const open = new Map<number, Open>()
  const kept: Kept[] = []
  const calls: CallMade[] = []

  function* take(event: Exclude<ModelEvent, { type: 'end' | 'failed' }>): Generator<TurnStep> {
    if (event.type === 'block_start') {
      const block = { id: turn.newEventId(), of: streamed[event.block], text: '' }
      open.set(event.index, block)
      const name = event.block === 'tool_call' ? { name: event.name } : {}
      if (event.block === 'tool_call') tools.get(event.name)?.prepare()
      yield { type: 'frame', frame: { kind: 'start', of: block.of, id: block.id, ...name } }
      return
    }
    const block = open.get(event.index)
    if (!block) throw new Error(`block ${event.index} was not begun`)
    if (event.type === 'delta') {
      block.text += event.delta
      yield {
        type: 'frame',
        frame: { kind: 'chunk', of: block.of, id: block.id, delta: event.delta },
      }
      return
    }
    open.delete(event.index)
    close(block.id, event.block)
    yield { type: 'frame', frame: { kind: 'end', of: block.of, id: block.id } }
  }

  function close(id: string, block: AssistantBlock): void {
    const opaque: Opaque = {
      origin: turn.model.origin,
      ...(block.state === undefined ? {} : { state: block.state }),
    }
    if (block.type === 'text') {
      if (block.text === '') return
      kept.push(
        entry({ id, type: 'agent.message', content: [{ type: 'text', text: block.text }] }, opaque),
      )
    } else if (block.type === 'thinking') {
      const redacted = block.redacted ? { redacted: true } : {}
      kept.push(
        entry({ id, type: 'agent.thinking', thinking: block.text }, { ...opaque, ...redacted }),
      )
    } else {
      const { name, input } = block
      calls.push({ eventId: id, name, input, truncated: false })
      kept.push(entry(toolUse(id, name, input, tools.get(name)), { ...opaque, call_id: block.id }))
    }
  }

  /** What people saw of a block that never ended stays; half a tool call is nothing. */
  function partial(): Kept[] {
    const texts = [...open.values()].filter(({ of, text }) => of === 'agent.message' && text !== '')
    return [
      ...kept.filter(
        ({ event }) => event.type === 'agent.message' || event.type === 'agent.thinking',
      ),
      ...texts.map(({ id, text }) =>
        entry(
          { id, type: 'agent.message', content: [{ type: 'text', text }] },
          { origin: turn.model.origin },
        ),
      ),
    ]
  }

  return { take, kept, calls, partial }
}
type Reader = ReturnType<typeof reader>

const entry = (event: Kept['event'], opaque: Opaque): Kept => ({
  event,
  opaque: JSON.stringify(opaque),
})

function toolUse(
  id: string,
  name: string,
  input: Record<string, unknown>,
  tool: Tool | undefined,
): Kept['event'] {
  if (tool?.runs === 'client') return { id, type: 'agent.custom_tool_use', name, input }
  const asks = tool?.permission === 'ask'
  return {
    id,
    type: 'agent.tool_use',
    name,
    input,
    evaluated_permission: asks ? 'ask' : 'allow',
    evaluation: { type: asks ? 'always_ask' : 'always_allow' },
  }
}

export const requestEnd = (turn: Turn, startId: string, usage: Usage, is_error: boolean): Kept => ({
  event: {
    id: turn.newEventId(),
    type: 'span.model_request_end',
    model_request_start_id: startId,
    is_error,
    model_usage: usage,
  },
})

type End = Extract<ModelEvent, { type: 'end' }>

function finish(
  turn: Turn,
  startId: string,
  answer: Reader,
  usage: Usage,
  stop: End['stop'],
): Asked {
  const cut = stop === 'max_tokens'
  const calls = answer.calls.map((call, index) => ({
    ...call,
    truncated: cut && index === answer.calls.length - 1,
  }))
  return { kept: [...answer.kept, requestEnd(turn, startId, usage, false)], calls, stop }
}

/** Nothing of a failed answer is kept, but of an interrupted one what people saw. */
function fail(
  turn: Turn,
  startId: string,
  answer: Reader,
  usage: Usage,
  failure: ModelFailure,
): Asked {
  const end = requestEnd(turn, startId, usage, true)
  if (turn.signal.aborted)
    return { kept: [...answer.partial(), end], calls: [], stop: 'interrupted' }
  return { kept: [end], calls: [], stop: 'failed', failure }
}
