/** The stream of a session in the events of that wire, made from the tail of its log. */
import type { OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { TailItem } from '../../../sessions/log/tail.ts'
import type { SessionLog } from '../turns/turns.ts'
import type { LogStanding } from './standing.ts'
import { subagentEvents } from './subagent-events.ts'
import { tellerOf } from './teller.ts'
import type { SessionWord } from './wire-events.ts'
import { sessionEvent } from './wire-events.ts'

type SessionStreamView = {
  log: SessionLog
  /** Where the log of the session stood when the stream began. */
  standing: LogStanding
  /** The session when the stream began. */
  begun: OpenAISession
  /** The session as it is, or undefined where it was deleted. */
  read: () => Promise<OpenAISession | undefined>
}

/** The texts of a stream. `untilIdle` ends it with its first turn. */
export async function* eventFrames(
  tailed: AsyncGenerator<TailItem>,
  view: SessionStreamView,
  untilIdle: boolean,
): AsyncGenerator<string> {
  const teller = tellerOf(view)
  const subagents = subagentEvents(view.log)
  const sessions = lastRead(view)
  for await (const each of tailed) {
    if (each.kind === 'frame') {
      const text = teller.live(each.frame)
      if (text !== '') yield text
    }
    if (each.kind !== 'kept') continue
    const { row } = each
    if (row.thread_id || row.type === 'session.thread_created') {
      const text = await subagents(row)
      if (text !== '') yield text
      continue
    }
    sessions.note(row)
    const { text, word } = await teller.kept(row)
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
function lastRead({ begun, read }: SessionStreamView) {
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
