/**
 * Puts blocks in sequence. The library may have several blocks open at once, and chat completions end all of them
 * together with the message. Here a later block waits until the earlier one has ended.
 */
import { randomUUID } from 'node:crypto'
import type { AssistantBlock, ModelEvent } from '../model.ts'
import type { AssistantMessage, AssistantMessageEvent } from './pi.ts'
import { type GrowingText, growingText } from './growing-text.ts'
import { readToolInput } from './tool-input.ts'

type LibraryBlock = AssistantMessage['content'][number]
type AnswerSegment = {
  /** Index of the library's block. */
  of: number
  kind: 'text' | 'thinking' | 'tool_call'
  text: GrowingText
  isStarted: boolean
  /** The library's block in its final form. */
  end?: LibraryBlock
  /** Ended here, although the library may still extend its block. */
  cut: boolean
}

type SequenceState = {
  segments: AnswerSegment[]
  /** The segments by block, because an answer may have tens of thousands. */
  byBlock: Map<number, AnswerSegment[]>
  /** The first segment that has not ended. Its index is also the block's index in our message. */
  head: number
  /** The state of reasoning that chat completions send only at the end, long after its block. */
  lateState?: string
  /** True when the wire ends no block before the message. */
  endsLate: boolean
  emit: (event: ModelEvent) => void
}

export type Sequence = {
  take(event: Exclude<AssistantMessageEvent, { type: 'done' | 'error' }>): void
  /** Ends the blocks that the library left open in a message that ended well. */
  close(message: AssistantMessage): void
}

export function createSequence(endsLate: boolean, emit: (event: ModelEvent) => void): Sequence {
  const state: SequenceState = {
    segments: [],
    byBlock: new Map(),
    head: 0,
    endsLate,
    emit,
  }
  return {
    take(event) {
      if (event.type === 'start') return
      const { contentIndex, partial } = event
      const [name, step] = event.type.split('_')
      const kind = name === 'toolcall' ? 'tool_call' : name === 'thinking' ? 'thinking' : 'text'
      if ('delta' in event) extend(state, contentIndex, kind, event.delta, partial)
      else if (step === 'start') begin(state, contentIndex, kind, partial)
      else end(state, contentIndex, partial)
      flush(state, partial)
    },
    close(message) {
      for (const segment of state.segments.slice(state.head)) {
        segment.cut ||= segment.end === undefined
      }
      flush(state, message)
      if (state.lateState === undefined) return
      const index = state.head
      emit({ type: 'block_start', index, block: 'thinking' })
      const block = { type: 'thinking', text: '', redacted: true, state: state.lateState } as const
      emit({ type: 'block_end', index, block })
    },
  }
}

function begin(
  state: SequenceState,
  of: number,
  kind: AnswerSegment['kind'],
  partial: AssistantMessage,
): AnswerSegment {
  const last = state.segments.at(-1)
  if (state.endsLate && last !== undefined && isWhole(last)) last.cut = true
  const segment: AnswerSegment = { of, kind, text: growingText(), isStarted: false, cut: false }
  state.segments.push(segment)
  const parts = state.byBlock.get(of)
  if (parts) parts.push(segment)
  else state.byBlock.set(of, [segment])
  unburden(partial.content[of])
  return segment
}

function extend(
  state: SequenceState,
  of: number,
  kind: AnswerSegment['kind'],
  delta: string,
  partial: AssistantMessage,
): void {
  const last = state.byBlock.get(of)?.at(-1)
  if (kind !== 'tool_call') {
    const segment = last?.cut === false ? last : begin(state, of, kind, partial)
    segment.text.add(delta)
  } else if (last?.cut === false) last.text.add(delta)
}

function end(state: SequenceState, of: number, partial: AssistantMessage): void {
  const block = partial.content[of]
  const parts = state.byBlock.get(of) ?? []
  const last = parts.at(-1)
  if (last === undefined || block === undefined) return
  if (parts.length === 1 && !last.cut) {
    last.end = { ...block }
    return
  }
  last.cut = true
  if (block.type === 'thinking' && block.thinkingSignature?.startsWith('[') === true) {
    state.lateState = block.thinkingSignature
  }
}

/** Emits everything whose turn has come. */
function flush(state: SequenceState, partial: AssistantMessage): void {
  const { segments, emit } = state
  for (let segment = segments[state.head]; segment !== undefined; segment = segments[state.head]) {
    const index = state.head
    const block = segment.end ?? partial.content[segment.of]
    if (!segment.isStarted && !emitStart(segment, block, index, emit)) return
    const isOver = segment.end !== undefined || segment.cut
    const delta = segment.text.takeNews(isOver)
    if (delta !== '') emit({ type: 'delta', index, delta })
    if (!isOver) return
    emit({ type: 'block_end', index, block: finished(segment, block, state.endsLate) })
    state.head += 1
  }
}

/** A call waits for its name, and for its id. A call that ends without them is given some, so that it is answered. */
function emitStart(
  segment: AnswerSegment,
  block: LibraryBlock | undefined,
  index: number,
  emit: (event: ModelEvent) => void,
): boolean {
  if (segment.kind !== 'tool_call') {
    emit({ type: 'block_start', index, block: segment.kind })
  } else {
    if (block?.type !== 'toolCall') return false
    const isOver = segment.end !== undefined || segment.cut
    if (!isOver && (block.name === '' || block.id === '')) return false
    block.name = block.name === '' ? 'unnamed' : block.name.toWellFormed()
    if (block.id === '') block.id = `call_${randomUUID().replaceAll('-', '')}`
    emit({ type: 'block_start', index, block: 'tool_call', id: block.id, name: block.name })
  }
  segment.isStarted = true
  return true
}

function finished(
  segment: AnswerSegment,
  block: LibraryBlock | undefined,
  endsLate: boolean,
): AssistantBlock {
  const text = segment.text.whole()
  const whole = segment.end !== undefined
  if (block?.type === 'toolCall') {
    const given = text === '' ? JSON.stringify(block.arguments) : text
    const isBare = text === '' && !whole && !endsLate
    const read = isBare ? { input: {}, fault: 'it never came' } : readToolInput(given)
    const { id, name, thoughtSignature } = block
    return { type: 'tool_call', id, name, ...read, ...state(thoughtSignature) }
  }
  if (block?.type === 'thinking') {
    if (block.redacted === true) {
      return { type: 'thinking', text: '', redacted: true, ...state(block.thinkingSignature) }
    }
    const thought = whole ? block.thinking.toWellFormed() : text
    return { type: 'thinking', text: thought, ...state(block.thinkingSignature) }
  }
  if (block?.type !== 'text' || !whole) return { type: 'text', text }
  return { type: 'text', text: block.text.toWellFormed(), ...state(block.textSignature) }
}

function state(signature: string | undefined): { state?: string } {
  return signature === undefined || signature === '' ? {} : { state: signature }
}

/** A call whose input is complete JSON cannot grow. */
function isWhole(segment: AnswerSegment): boolean {
  if (segment.kind !== 'tool_call') return true
  try {
    JSON.parse(segment.text.whole())
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/**
 * Keeps the library from parsing a call's whole input again at every piece, which takes seconds for a large file. The
 * library stores the text in one of these properties; here the text is collected and parsed once.
 */
function unburden(block: LibraryBlock | undefined): void {
  if (block?.type !== 'toolCall') return
  for (const scratch of ['partialJson', 'partialArgs']) {
    if (!(scratch in block)) continue
    Object.defineProperty(block, scratch, { configurable: true, get: () => '', set: () => {} })
  }
}
