/** The event stream of a session on this wire, made from the tail of the session's log. */
import type { OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { TailItem } from '../../../sessions/log/tail.ts'
import type { SessionLog } from '../turns/turns.ts'
import type { LogState } from './standing.ts'
import { subagentEvents } from './subagent-events.ts'
import { createTeller } from './teller.ts'
import type { SessionWord } from './wire-events.ts'
import { sessionEvent } from './wire-events.ts'

type SessionStreamView = {
  log: SessionLog
  /** The state of the session's log when the stream began. */
  standing: LogState
  /** The session as it was when the stream began. */
  begun: OpenAISession
  /** Reads the session again. Resolves to undefined when the session was deleted. */
  read: () => Promise<OpenAISession | undefined>
}

/** The texts of a stream. With `untilIdle` the stream ends with the first turn. */
export async function* eventFrames(
  tailed: AsyncGenerator<TailItem>,
  view: SessionStreamView,
  untilIdle: boolean,
): AsyncGenerator<string> {
  const teller = createTeller(view)
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

/**
 * Remembers the session that was read last. The beginning of a turn changes only the session's status: for
 * `in_progress`, the session is read again only after an update.
 */
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
