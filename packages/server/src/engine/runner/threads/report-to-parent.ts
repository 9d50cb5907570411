/** The message of a child thread to its parent at the end of a turn. */
import type { StopReason } from '@steward/protocol/events.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { callIdOfThread, primaryThreadId } from '../../../ground/core/text/ids.ts'
import { appendEntries } from '../../../sessions/log/append.ts'
import { findCall } from '../../../sessions/log/calls.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import type { LogEntry } from '../../../sessions/log/log.ts'
import { lastSaying } from '../../../sessions/log/threads/log.ts'
import { messageEvents, mostSent, sendMessage } from '../../../sessions/log/threads/messages.ts'
import { threadIdOf } from '../../../sessions/log/threads/team.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import type { HeldThread } from '../../../sessions/log/threads/append.ts'
import type { ThreadRef } from '../../../ground/core/refs.ts'

/** Stop reasons that the parent is told about. After an interrupt a person decides what comes next. */
const endings: readonly StopReason['type'][] = ['end_turn', 'retries_exhausted', 'refusal']

/**
 * Sends the last message of a child's turn, or the reason why there is none, to its parent and marks the parent as due.
 * Does nothing for the primary thread. An advisor's answer goes into the log at once, because the result of the waiting
 * call shows it to the model.
 */
export async function reportToParent(
  tx: Queries,
  ref: HeldThread,
  { stop, interruptedBy }: { stop: StopReason; interruptedBy?: string },
  now: number,
): Promise<LogEntry[]> {
  if (ref.thread === undefined || interruptedBy !== undefined || !endings.includes(stop.type))
    return []
  const { tenant, session, fence } = ref
  const store = threadStore(tx)
  const from = await store.find(tenant, session, threadIdOf(ref))
  const to = await store.find(tenant, session, primaryThreadId(session))
  if (from?.kind === 'advisor' && stop.type !== 'end_turn') return []
  if (!from || !to) throw new Error(`thread ${threadIdOf(ref)} has no row`)
  const text = shortened((await saidLast(tx, ref)) ?? silence[stop.type] ?? '')
  if (from.kind === 'advisor') {
    // The call was interrupted or has failed meanwhile, and its result says so.
    if (!(await isAwaited(tx, ref, from.id))) return []
    const { sent, received } = messageEvents({ from, to, text })
    await appendEntries(tx, tenant, session, [{ event: received }], { now, fence })
    return [{ event: sent }]
  }
  return [{ event: await sendMessage(tx, { tenant, session }, { from, to, text, now }) }]
}

async function isAwaited(
  tx: Queries,
  { tenant, session }: ThreadRef,
  advisor: string,
): Promise<boolean> {
  const call = await findCall(tx, tenant, session, callIdOfThread(advisor))
  return call !== undefined && call.state !== 'done'
}

const silence: { [Type in StopReason['type']]?: string } = {
  end_turn: '(The agent ended its turn without a message.)',
  retries_exhausted: '(The turn of the agent failed. Its thread says why.)',
  refusal: '(The model of the agent declined to go on.)',
}

/** The last message of the turn that ends. */
async function saidLast(tx: Queries, ref: ThreadRef): Promise<string | undefined> {
  const row = await lastSaying(tx, ref)
  const event = row && eventOf(row)
  if (event?.type !== 'agent.message') return undefined
  return event.content.map(({ text }) => text).join('\n')
}

function shortened(text: string): string {
  if (text.length <= mostSent.characters) return text
  const note = `\n[cut: the message has ${text.length} characters]`
  return text.slice(0, mostSent.characters - note.length) + note
}
