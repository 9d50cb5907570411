/** The event stream of a session on this wire, made from the tail of the session's log. */
import type { OpenAISession } from '@steward/protocol/openai/sessions.ts'
import type { EventRow } from '../../../sessions/log/log.ts'
import type { TailItem } from '../../../sessions/log/tail.ts'
import type { SessionLog } from '../turns/turns.ts'
import { environmentEvents } from './environment-events.ts'
import type { LogState } from './standing.ts'
import { childThreadId, subagentEvents } from './subagent-events.ts'
import type { Teller } from './teller.ts'
import { createTeller } from './teller.ts'
import type { SessionWord } from './wire-events.ts'
import { sessionEvent } from './wire-events.ts'

type SessionStreamView = {
  log: SessionLog
  /** The state of the session's log when the stream began. */
  standing: LogState
  /** Calls of functions that waited when the stream began, behind the event at `after`. */
  waiting?: { rows: readonly EventRow[]; after: number }
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
  const tellers = { primary: createTeller(view), subagents: subagentEvents(view.log) }
  const sessions = lastRead(view)
  const environment = environmentEvents(view.log, view.begun)
  yield* waitingCalls(view, tellers)
  for await (const each of tailed) {
    if (each.kind !== 'kept') {
      const text = liveText(each, tellers.primary)
      if (text !== '') yield text
      continue
    }
    const { row } = each
    const ofEnvironment = await environment.kept(row, tellers.primary.turnId())
    if (ofEnvironment !== '') yield ofEnvironment
    if (row.thread_id || row.type === 'session.thread_created') {
      const text = await tellers.subagents.kept(row)
      if (text !== '') yield text
      continue
    }
    sessions.note(row)
    const { text, word } = await tellers.primary.kept(row)
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

const liveText = (each: TailItem, primary: Teller): string => {
  if (each.kind === 'frame') return primary.live(each.frame)
  return each.kind === 'output' ? primary.command(each.output) : ''
}

type Tellers = { primary: Teller; subagents: ReturnType<typeof subagentEvents> }

/** Tells the calls of functions that waited when the stream began, so that its reader can answer them. */
async function* waitingCalls(
  { log, waiting }: SessionStreamView,
  { primary, subagents }: Tellers,
): AsyncGenerator<string> {
  for (const row of waiting?.rows ?? []) {
    const thread = childThreadId(log, row)
    const text =
      thread === undefined
        ? await primary.again(row)
        : await subagents.again(thread, row, waiting?.after ?? 0)
    if (text !== '') yield text
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
