/**
 * Goes on live where a replay differs: a fork of the session as it was before that turn, with the other agent, which is told what the turn was
 * told. The model and the tools answer anew from there.
 */
import type { ClientEvent, NewEvent } from '@steward/protocol/events.ts'
import { SystemMessage, UserMessage } from '@steward/protocol/events.ts'
import type { ReplayCreate } from '@steward/protocol/replays.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Database } from '../../ground/database/database.ts'
import type { PostedEvents } from '../../sessions/events/post.ts'
import { announcePosted, postEvents } from '../../sessions/events/post.ts'
import type { LongTexts } from '../../sessions/log/long-texts.ts'
import { withLongTexts } from '../../sessions/log/long-texts.ts'
import type { ForkOpening } from '../../sessions/open-fork.ts'
import { openFork } from '../../sessions/open-fork.ts'
import type { RecordedTurn } from './record.ts'

type Divergent = {
  session: string
  agent: NonNullable<ReplayCreate['agent']>
  turns: readonly RecordedTurn[]
  /** The turn that differs, counted from 0. */
  index: number
}

/** Resolves with the id of the fork. */
export async function continueLive(
  deps: ForkOpening,
  place: { db: Database; tenant: string },
  { session, agent, turns, index }: Divergent,
): Promise<string> {
  // Answers to calls answer those of the record, which the fork has closed: it begins with the messages before them.
  const turn = turns.slice(0, index + 1).findLast(({ given }) => isTold(given))
  if (!turn) throw invalid('on_divergence: no message of the session is before the divergence')
  const events = turn.given.map(messageOf)
  const { bus, clock } = deps
  const { db, tenant } = place
  const id = newId('session')
  const input = { agent, at_seq: turn.from - 1 }
  let posted: PostedEvents | undefined
  // In the unit of the fork, so that a process that dies leaves no fork that nobody has told anything.
  const open = (texts: LongTexts) =>
    openFork(deps, place, session, input, {
      id,
      async finish(tx, now) {
        posted = await postEvents(tx, tenant, id, events, now, texts)
      },
    })
  await withLongTexts(db, { tenant, sessionId: id, clock }, events, async () => {}, open)
  if (posted) announcePosted(bus, tenant, id, posted)
  return id
}

const isTold = (given: readonly NewEvent[]): boolean =>
  given.length > 0 &&
  given.every(({ type }) => type === 'user.message' || type === 'system.message')

/** As it was posted, without what the log has added. */
function messageOf(event: NewEvent): ClientEvent {
  const content = 'content' in event ? event.content : []
  const schema = event.type === 'system.message' ? SystemMessage : UserMessage
  const message = schema.safeParse({ type: event.type, content })
  if (message.success) return message.data
  throw invalid(
    'on_divergence: a message of the session cannot be posted again, so it can only stop',
  )
}
