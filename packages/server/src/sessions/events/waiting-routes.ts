import { ListOf } from '@steward/protocol/primitives.ts'
import {
  WaitingMessage,
  WaitingMessageChange,
  WaitingMessageUpdate,
} from '@steward/protocol/waiting-messages.ts'
import { wholePage } from '../../ground/core/text/page.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { contentBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { sessionStore } from '../rows/sessions.ts'
import type { MessageChange } from './waiting-messages.ts'
import { changeMessage, removeMessage, waitingMessages } from './waiting-messages.ts'

const waiting = section('Events', ['workspace'], '/v1/ext/sessions/:id/waiting_messages')

export function waitingMessageRoutes({ clock }: Ground): Route[] {
  async function change(
    {
      db,
      tenant,
      params,
    }: { db: Database; tenant: string; params: { id: string; message: string } },
    unit: (
      tx: Queries,
      ref: { tenant: string; session: string; message: string },
    ) => Promise<MessageChange>,
  ) {
    const { id: session, message } = params
    await sessionStore(db.read).row(tenant, session)
    const state = await db.write((tx) => unit(tx, { tenant, session, message }))
    return { id: message, type: 'waiting_message_change', state }
  }

  return [
    waiting.get(
      '',
      {
        summary: 'List waiting messages',
        description: 'Messages of people that no turn has taken yet, in their order.',
        answer: ListOf(WaitingMessage),
      },
      async ({ db, tenant, params: { id } }) => {
        await sessionStore(db.read).row(tenant, id)
        return wholePage(await waitingMessages(db.read, tenant, id))
      },
    ),
    waiting.post(
      '/:message',
      {
        summary: 'Change a waiting message',
        description: 'Replaces its text, unless a turn has taken it.',
        body: WaitingMessageUpdate,
        limits: contentBody,
        answer: WaitingMessageChange,
      },
      (call) => change(call, (tx, ref) => changeMessage(tx, ref, call.body.content, clock.now())),
    ),
    waiting.delete(
      '/:message',
      {
        summary: 'Remove a waiting message',
        description:
          'With the instructions that were posted behind it, unless a turn has taken it.',
        answer: WaitingMessageChange,
      },
      (call) => change(call, (tx, ref) => removeMessage(tx, ref, clock.now())),
    ),
  ]
}
