/** Turns the events of a thread into events of this wire, in the order of the log. */
import type { LiveFrame } from '@steward/harness/turn.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { CommandOutput } from '../../../sessions/log/topics.ts'
import type { LoggedTurn, TurnChange } from '../turns/turn.ts'
import { turnFold, usageOfTurn } from '../turns/turn.ts'
import type { SessionLog } from '../turns/turns.ts'
import { createTurnOutput } from './output.ts'
import type { LogState } from './standing.ts'
import { earlierCall } from './standing.ts'
import type { SessionWord } from './wire-events.ts'
import { createTurnEvents } from './wire-events.ts'

/** `word`: the new status of the session. Only the session's own thread changes this status. */
type LatestText = { text: string; word?: SessionWord }

const words: Partial<Record<TurnChange, SessionWord>> = {
  in_progress: 'in_progress',
  waiting: 'requires_action',
  ended: 'idle',
}

export function createTeller({ log, standing }: { log: SessionLog; standing: LogState }) {
  const fold = turnFold(log.thread, standing)
  const turnId = () => fold.turn()?.id ?? null
  const told = createTurnEvents({ owner: log, turnId })
  const output = createTurnOutput(told, standing.outputs)

  function turnText(change: TurnChange, row: EventRow, turn: LoggedTurn): string {
    switch (change) {
      case 'created':
        output.begin()
        return told.turn('created', row, turn)
      case 'in_progress':
        return told.turn('in_progress', row, turn)
      case 'waiting':
        return ''
      case 'ended':
        return output.end() + told.turn(turn.status, row, turn, { usage: usageOfTurn(turn) })
      default:
        return change satisfies never
    }
  }

  function ofTurn(row: EventRow): LatestText {
    const kept: LatestText = { text: '' }
    for (const change of fold.take(row)) {
      const turn = fold.turn()
      if (!turn) break
      kept.text += turnText(change, row, turn)
      const word = words[change]
      if (word) kept.word = word
    }
    return kept
  }

  /** Finds the call of a result when the call was made before the stream began. */
  async function recall(row: EventRow): Promise<void> {
    const { open } = standing
    const id = open && fold.turn() === open ? output.unknownCall(row) : undefined
    if (open === undefined || id === undefined) return
    const call = await earlierCall(log, open, id)
    if (call) output.remember(call)
  }

  return {
    async kept(row: EventRow): Promise<LatestText> {
      await recall(row)
      const { text, word } = ofTurn(row)
      const all = output.kept(row) + text
      if (row.type === 'session.status_terminated') return { text: all, word: 'failed' }
      return word ? { text: all, word } : { text: all }
    },

    /** Tells a call again that waits since before the stream began. */
    async again(row: EventRow): Promise<string> {
      const { open } = standing
      const call = open && (await earlierCall(log, open, row.id))
      return call ? output.again(call) : ''
    },

    turnId,

    command: (piece: CommandOutput): string => output.command(piece),

    /** Ignores pieces of text while no turn is open. */
    live: (frame: LiveFrame): string => (fold.turn()?.last === null ? output.live(frame) : ''),
  }
}

export type Teller = ReturnType<typeof createTeller>
