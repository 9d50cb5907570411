/** Reads the model's answer block by block: frames are sent at once, events when the answer has ended. */
import type { AssistantBlock, ModelEvent } from '@steward/model/model.ts'
import type { OpaqueContent } from './history.ts'
import { toolUse } from './call-events.ts'
import type { LiveFrame, KeptEvent, StreamedType, Tool, Turn } from './turn.ts'

export type ModelToolCall = {
  event_id: string
  name: string
  input: Record<string, unknown>
  /** The reason why the input is not whole, as a sentence for the model. Such a call must not run. */
  unread?: string
}

type AnswerPiece = Exclude<ModelEvent, { type: 'end' | 'failed' }>
/** A text begins with its first piece, so that an empty text sends no frame. */
type OpenBlock = { id: string; of: StreamedType; text: string; isBegun: boolean }

const streamed: Record<'text' | 'thinking' | 'tool_call', StreamedType> = {
  text: 'agent.message',
  thinking: 'agent.thinking',
  tool_call: 'agent.tool_use_input',
}

export type ModelAnswer = ReturnType<typeof readAnswer>

export function readAnswer(turn: Turn, tools: ReadonlyMap<string, Tool>) {
  const { origin } = turn.model
  const open = new Map<number, OpenBlock>()
  const kept: KeptEvent[] = []
  const calls: ModelToolCall[] = []

  function* take(event: AnswerPiece): Generator<LiveFrame> {
    if (event.type === 'block_start') {
      const of = streamed[event.block]
      const block = { id: turn.newEventId(), of, text: '', isBegun: event.block !== 'text' }
      open.set(event.index, block)
      if (event.block === 'tool_call') tools.get(event.name)?.prepare()
      const name = event.block === 'tool_call' ? { name: event.name } : {}
      if (block.isBegun) yield { kind: 'start', of, id: block.id, ...name }
      return
    }
    const block = open.get(event.index)
    if (!block) throw new Error(`block ${event.index} was not begun`)
    const { id, of } = block
    const hasText = event.type === 'delta' ? event.delta !== '' : hasContent(event.block)
    if (!block.isBegun && hasText) {
      block.isBegun = true
      yield { kind: 'start', of, id }
    }
    if (event.type === 'delta') {
      block.text += event.delta
      if (hasText) yield { kind: 'chunk', of, id, delta: event.delta }
      return
    }
    open.delete(event.index)
    close(id, event.block)
    if (block.isBegun) yield { kind: 'end', of, id }
  }

  function close(id: string, block: AssistantBlock): void {
    const opaque: OpaqueContent = {
      origin,
      ...(block.state === undefined ? {} : { state: block.state }),
    }
    switch (block.type) {
      case 'text':
        if (hasContent(block)) kept.push(entry(message(id, block.text), opaque))
        return
      case 'thinking': {
        const redacted = block.redacted ? { redacted: true } : {}
        const event = { id, type: 'agent.thinking' as const, thinking: block.text }
        kept.push(entry(event, { ...opaque, ...redacted }))
        return
      }
      case 'tool_call': {
        const { name, input, fault } = block
        calls.push({
          event_id: id,
          name,
          input,
          ...(fault !== undefined && { unread: notWhole(fault) }),
        })
        kept.push(
          entry(toolUse(id, name, input, tools.get(name)), { ...opaque, call_id: block.id }),
        )
      }
    }
  }

  return {
    take,
    /** Call when the answer has ended. `isCut`: the model reached its limit of tokens. */
    whole(isCut: boolean): { kept: KeptEvent[]; calls: ModelToolCall[] } {
      const last = kept.findLast(({ event }) => event.type !== 'agent.thinking')?.event.id
      return {
        kept: endingInSpeech(kept, isCut),
        calls: calls.map((call) =>
          isCut && call.event_id === last ? { ...call, unread: truncated } : call,
        ),
      }
    },
    /** The texts that people saw. Tool calls are left out: no call of a failed answer was started. */
    withoutCalls(): KeptEvent[] {
      const texts = [...open.values()].filter(({ of, text }) => of === 'agent.message' && text)
      const said = kept.filter(({ event: { type } }) => !type.endsWith('tool_use'))
      return endingInSpeech(
        [...said, ...texts.map(({ id, text }) => entry(message(id, text), { origin }))],
        true,
      )
    },
    /** Ends the open streams when no more pieces will come. */
    *break(): Generator<LiveFrame> {
      for (const { id, of, isBegun } of open.values()) if (isBegun) yield { kind: 'end', of, id }
    },
  }
}

const truncated = 'the answer was cut before the input of this call was whole; nothing was run'
const notWhole = (fault: string): string =>
  `the input of this call is not whole JSON: ${fault}; nothing was run. Call again with the whole input`

const hasContent = (block: AssistantBlock): boolean => block.type !== 'text' || block.text !== ''

const message = (id: string, text: string): KeptEvent['event'] => ({
  id,
  type: 'agent.message',
  content: [{ type: 'text', text }],
})

const entry = (event: KeptEvent['event'], opaque: OpaqueContent): KeptEvent => ({
  event,
  opaque: JSON.stringify(opaque),
})

/**
 * Providers refuse an answer that ends in thinking when it is sent back. Such thinking is kept for people, without the
 * data that a provider would recognize it by.
 */
function endingInSpeech(kept: KeptEvent[], isCut: boolean): KeptEvent[] {
  const last = kept.findLastIndex(({ event }) => event.type !== 'agent.thinking')
  if (!isCut && last !== -1) return kept
  return kept.map(({ event, opaque }, index) =>
    index > last || opaque === undefined ? { event } : { event, opaque },
  )
}
