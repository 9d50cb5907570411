/** The stream of a session in the events of that wire, made from the tail of its log. */
import type { OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { Tailed } from '../../../sessions/log/tail.ts'
import type { PlacedCall } from './output.ts'
import { outputOf } from './output.ts'
import type { SessionLog } from '../turns/turns.ts'
import { childOf, subagentEvents } from './subagent-events.ts'
import type { SessionWord } from './wire-events.ts'
import { sessionEvent, turnEventsOf } from './wire-events.ts'
import type { TokenCounts, LoggedTurn, TurnChange } from '../turns/turn.ts'
import { turnFold, usageOfTurn } from '../turns/turn.ts'

/** Where the log stands when a stream begins. */
export type Standing = {
  open: LoggedTurn | undefined
  usage: TokenCounts | undefined
  /** Output items of the open turn so far. */
  outputs: number
  calls: PlacedCall[]
}

type View = {
  log: SessionLog
  standing: Standing
  /** The session when the stream began. */
  begun: OpenAISession
  /** The session as it is, or undefined where it was deleted. */
  read: () => Promise<OpenAISession | undefined>
}

/** The texts of a stream. `untilIdle` ends it with its first turn. */
export async function* eventFrames(
  tailed: AsyncGenerator<Tailed>,
  view: View,
  untilIdle: boolean,
): AsyncGenerator<string> {
  const teller = tellerOf(view)
  const sessions = lastRead(view)
  for await (const each of tailed) {
    if (each.kind === 'frame') {
      const text = teller.live(each.frame)
      if (text !== '') yield text
    }
    if (each.kind !== 'kept') continue
    const { row } = each
    const child = childOf(view.log, row)
    if (child !== undefined) {
      const text = await teller.child(child, row)
      if (text !== '') yield text
      continue
    }
    sessions.note(row)
    const { text, word } = teller.kept(row)
    if (text !== '') yield text
    if (word) {
      const session = await sessions.readFor(word)
      if (!session) return
      yield sessionEvent(word, row.id, session)
    }
    if (row.type === 'session.deleted' || word === 'failed') return
    if (untilIdle && word === 'idle') return
  }
}

/** A turn that begins changes the status of its session alone: the session is then as it was read last, unless it was changed since. */
function lastRead({ begun, read }: View) {
  let known: OpenAISession | undefined = begun
  return {
    note({ type }: EventRow): void {
      if (type === 'session.updated') known = undefined
    },
    async readFor(word: SessionWord): Promise<OpenAISession | undefined> {
      if (word !== 'in_progress' || !known) known = await read()
      return known
    },
  }
}

type KeptText = { text: string; word?: SessionWord }

const words: Partial<Record<TurnChange, SessionWord>> = {
  in_progress: 'in_progress',
  waiting: 'requires_action',
  ended: 'idle',
}

function tellerOf({ log, standing }: View) {
  const fold = turnFold(null, standing)
  const turnId = () => fold.turn()?.id ?? null
  const told = turnEventsOf({ owner: log, turnId })
  const output = outputOf(told, standing)

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

  function ofTurn(row: EventRow): KeptText {
    const kept: KeptText = { text: '' }
    for (const change of fold.take(row)) {
      const turn = fold.turn()
      if (!turn) break
      kept.text += turnText(change, row, turn)
      const word = words[change]
      if (word) kept.word = word
    }
    return kept
  }

  return {
    child: subagentEvents(log),

    kept(row: EventRow): KeptText {
      const { text, word } = ofTurn(row)
      const all = output.kept(row) + text
      if (row.type === 'session.status_terminated') return { text: all, word: 'failed' }
      return word ? { text: all, word } : { text: all }
    },

    /** Pieces belong to a turn that runs. */
    live: (frame: Parameters<typeof output.live>[0]): string =>
      fold.turn()?.last === null ? output.live(frame) : '',
  }
}
