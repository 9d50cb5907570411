/**
 * Continues live where a replay differs: forks the session before that turn, with the other agent, and posts the
 * turn's messages to the fork. There, the model and the tools answer anew.
 */
import type { ClientEvent, NewEvent } from '@steward/protocol/events.ts'
import { SystemMessage, UserMessage } from '@steward/protocol/events.ts'
import type { ReplayCreate } from '@steward/protocol/replays.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import { postEvents } from '../../sessions/events/post.ts'
import type { LongTexts } from '../../sessions/log/long-texts.ts'
import { withLongTexts } from '../../sessions/log/long-texts.ts'
import { openFork } from '../../sessions/open-fork.ts'
import type { RecordedTurn } from './record.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'

type DivergentReplay = {
  session: string
  agent: NonNullable<ReplayCreate['agent']>
  turns: readonly RecordedTurn[]
  /** The turn that differs, counted from 0. */
  index: number
}

/** Returns the id of the fork. */
export async function continueLive(
  deps: OpenSessionDeps,
  ref: TenantRef,
  { session, agent, turns, index }: DivergentReplay,
): Promise<string> {
  // Answers belong to calls of the record, which the fork has closed: start with the last turn that has messages.
  const turn = turns.slice(0, index + 1).findLast(({ given }) => isTold(given))
  if (!turn) throw invalid('on_divergence: no message of the session is before the divergence')
  const events = turn.given.map(messageOf)
  const { clock } = deps
  const { db, tenant } = ref
  const id = newId('session')
  const input = { agent, at_seq: turn.from - 1 }
  // The messages are posted in the unit of the fork, so a dying process leaves no fork without its messages.
  const open = (texts: LongTexts) =>
    openFork(deps, ref, session, input, {
      id,
      async finish(tx, now) {
        await postEvents(tx, tenant, id, events, now, { texts })
      },
    })
  await withLongTexts(db, { tenant, session: id, clock }, events, async () => {}, open)
  return id
}

const isTold = (given: readonly NewEvent[]): boolean =>
  given.length > 0 &&
  given.every(({ type }) => type === 'user.message' || type === 'system.message')

/** The message as it was posted, without the fields that the log added. */
function messageOf(event: NewEvent): ClientEvent {
  const content = 'content' in event ? event.content : []
  const schema = event.type === 'system.message' ? SystemMessage : UserMessage
  const message = schema.safeParse({ type: event.type, content })
  if (message.success) return message.data
  throw invalid(
    'on_divergence: a message of the session cannot be posted again, so it can only stop',
  )
}
