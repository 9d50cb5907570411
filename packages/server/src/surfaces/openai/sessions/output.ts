/** The output of a turn as it streams: blocks of text, calls and their results, each with its index. */
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { CommandOutput } from '../../../sessions/log/topics.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import {
  answeredBy,
  isCall,
  isResult,
  phaseTypes,
  showItem,
  messageItem,
  reasoningItem,
} from '../turns/item.ts'
import type { TurnEvents } from './wire-events.ts'

/** A block that streams and is not in the log yet: its index, and its text so far. */
type LiveBlock = { of: 'agent.message' | 'agent.thinking'; index: number; text: string }

export type IndexedCall = { row: EventRow; index: number }

/** The most whole blocks that are remembered: another process may send pieces of a block after the block itself. */
const wholesRemembered = 500

const unfinished = { status: 'in_progress', phase: null } as const

/** The index of the turn's next output item. */
type OutputCount = { next: number }

export const doneText = (
  told: TurnEvents,
  row: EventRow,
  index: number,
  { result, behind }: { result?: EventRow; behind?: EventRow } = {},
): string => {
  const turn = { turnId: told.turnId(), isOver: true, result, behind, owner: told.owner }
  return told.item('done', row.id, index, showItem(row, turn))
}

export const addedText = (told: TurnEvents, row: EventRow, index: number): string => {
  const turn = { turnId: told.turnId(), isOver: false, owner: told.owner }
  return told.item('added', row.id, index, showItem(row, turn))
}

function blocksOf(told: TurnEvents, outputs: OutputCount) {
  const blocks = new Map<string, LiveBlock>()
  const whole = new Set<string>()
  /** A message that is whole and whose phase the next event tells. */
  let last: IndexedCall | undefined

  function noteWhole(id: string): void {
    blocks.delete(id)
    whole.add(id)
    const [oldest] = whole
    if (whole.size > wholesRemembered && oldest) whole.delete(oldest)
  }

  function begin(id: string, of: LiveBlock['of']): { block: LiveBlock; text: string } {
    const block = { of, index: outputs.next++, text: '' }
    blocks.set(id, block)
    const { index } = block
    const base = told.base(id)
    if (of === 'agent.thinking')
      return { block, text: told.item('added', id, index, reasoningItem(base, 'in_progress')) }
    const added = told.item('added', id, index, messageItem(base, [], unfinished))
    return { block, text: added + told.part('added', { id, index, content: 0 }, '') }
  }

  function blockOf(id: string, of: LiveBlock['of']): { block: LiveBlock; text: string } {
    const known = blocks.get(id)
    return known ? { block: known, text: '' } : begin(id, of)
  }

  return {
    message(row: EventRow): string {
      const event = eventOf(row)
      if (event.type !== 'agent.message') return ''
      const { block, text: begun } = blockOf(row.id, event.type)
      let text = begun
      for (const [content, { text: all }] of event.content.entries()) {
        const indexes = { id: row.id, index: block.index, content }
        const sent = content === 0 ? block.text.length : 0
        if (content > 0) text += told.part('added', indexes, '')
        if (all.length > sent) text += told.delta(indexes, all.slice(sent), sent)
        text += told.text(indexes, all) + told.part('done', indexes, all)
      }
      noteWhole(row.id)
      last = { row, index: block.index }
      return text
    },

    /** Ends the last message. `behind`: the event that tells its phase. */
    endMessage(behind?: EventRow): string {
      if (!last) return ''
      const { row, index } = last
      last = undefined
      return doneText(told, row, index, behind && { behind })
    },

    thinking(row: EventRow): string {
      const { block, text } = blockOf(row.id, 'agent.thinking')
      noteWhole(row.id)
      return text + doneText(told, row, block.index)
    },

    /** Ends blocks that the log did not get by the end of their request. Their indexes are free again. */
    giveUp(): string {
      let text = ''
      for (const [id, { of, index, text: sent }] of blocks) {
        const base = told.base(id)
        const isMessage = of === 'agent.message'
        const shown = isMessage
          ? messageItem(base, [sent], { status: 'incomplete', phase: null })
          : reasoningItem(base, 'incomplete')
        text += told.item('done', id, index, shown)
        outputs.next--
      }
      blocks.clear()
      return text
    },

    live(frame: LiveFrame): string {
      const { id, kind } = frame
      if (kind === 'start') {
        if (frame.of === 'agent.tool_use_input' || blocks.has(id) || whole.has(id)) return ''
        return begin(id, frame.of).text
      }
      const block = blocks.get(id)
      if (kind !== 'chunk' || block?.of !== 'agent.message') return ''
      const at = block.text.length
      block.text += frame.delta
      return told.delta({ id, index: block.index, content: 0 }, frame.delta, at)
    },
  }
}

/** `outputs`: the number of items that the turn has put out so far. */
export function createTurnOutput(told: TurnEvents, outputs: number) {
  const counts: OutputCount = { next: outputs }
  const blocks = blocksOf(told, counts)
  const calls = new Map<string, IndexedCall>()

  function call(row: EventRow): string {
    const index = counts.next++
    calls.set(row.id, { row, index })
    return addedText(told, row, index)
  }

  function answer(row: EventRow): string {
    const id = answeredBy(eventOf(row))
    const of = id === undefined ? undefined : calls.get(id)
    if (!of) return ''
    calls.delete(of.row.id)
    return doneText(told, of.row, of.index, { result: row })
  }

  return {
    live: (frame: LiveFrame): string => blocks.live(frame),

    begin(): void {
      counts.next = 0
    },

    end(): string {
      calls.clear()
      return blocks.endMessage() + blocks.giveUp()
    },

    /** The call that the row answers, when the stream has not told this call. */
    unknownCall(row: EventRow): string | undefined {
      const id = isResult(row.type) ? answeredBy(eventOf(row)) : undefined
      return id === undefined || calls.has(id) ? undefined : id
    },

    /** Tells a call again that was made before the stream began. */
    again(earlier: IndexedCall): string {
      calls.set(earlier.row.id, earlier)
      return addedText(told, earlier.row, earlier.index)
    },

    /** A piece of the output of a command that runs. */
    command({ call: id, text, newIndex, end: at }: CommandOutput): string {
      const of = calls.get(id)
      const delta = text.slice(newIndex)
      return of && delta !== '' ? told.command(of, delta, at) : ''
    },

    remember: (earlier: IndexedCall): void => void calls.set(earlier.row.id, earlier),

    kept(row: EventRow): string {
      const ended = tellsPhase(row) ? blocks.endMessage(row) : ''
      return ended + ofRow(row)
    },
  }

  function ofRow(row: EventRow): string {
    if (row.type === 'agent.message') return blocks.message(row)
    if (row.type === 'agent.thinking') return blocks.thinking(row)
    if (isCall(row.type)) return call(row)
    if (row.type === 'span.model_request_end') return blocks.giveUp()
    return isResult(row.type) ? answer(row) : ''
  }
}

const tellsPhase = ({ type }: EventRow): boolean => (phaseTypes as readonly string[]).includes(type)
