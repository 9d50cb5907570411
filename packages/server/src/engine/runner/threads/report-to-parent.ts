/** What a child thread tells its parent when its turn ends. */
import type { StopReason } from '@steward/protocol/events.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { callIdOfThread, primaryThreadId } from '../../../ground/core/ids.ts'
import { appendEntries } from '../../../sessions/log/append.ts'
import { findCall } from '../../../sessions/log/calls.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import type { LogEntry } from '../../../sessions/log/log.ts'
import { lastSaying } from '../../../sessions/log/threads/log.ts'
import { messageEvents, mostSent, sendMessage } from '../../../sessions/log/threads/messages.ts'
import type { ThreadPlace } from '../../../sessions/log/threads/team.ts'
import { threadIdOf } from '../../../sessions/log/threads/team.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import type { HeldThread } from '../../../sessions/log/threads/append.ts'

/** Stops after which the parent waits for nothing more. After an interrupt a person decides what comes next. */
const endings: readonly StopReason['type'][] = ['end_turn', 'retries_exhausted', 'refusal']

/**
 * Sends the last message of a child's turn, or why there is none, to its parent, which is due then. The primary thread has none. Advice that
 * a call waits for is in the log at once: the result of the call brings it to the model.
 */
export async function reportToParent(
  tx: Queries,
  place: HeldThread,
  { stop, interruptedBy }: { stop: StopReason; interruptedBy?: string },
  now: number,
): Promise<LogEntry[]> {
  if (place.thread === undefined || interruptedBy !== undefined || !endings.includes(stop.type))
    return []
  const { tenant, session, fence } = place
  const store = threadStore(tx)
  const from = await store.find(tenant, session, threadIdOf(place))
  const to = await store.find(tenant, session, primaryThreadId(session))
  if (from?.kind === 'advisor' && stop.type !== 'end_turn') return []
  if (!from || !to) throw new Error(`thread ${threadIdOf(place)} has no row`)
  const text = shortened((await saidLast(tx, place)) ?? silence[stop.type] ?? '')
  if (from.kind === 'advisor') {
    // The call was interrupted meanwhile, or has failed: its result says so, and what comes next is for others to decide.
    if (!(await isAwaited(tx, place, from.id))) return []
    const { sent, received } = messageEvents({ from, to, text })
    await appendEntries(tx, tenant, session, [{ event: received }], { now, fence })
    return [{ event: sent }]
  }
  return [{ event: await sendMessage(tx, { tenant, session }, { from, to, text, now }) }]
}

async function isAwaited(
  tx: Queries,
  { tenant, session }: ThreadPlace,
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
async function saidLast(tx: Queries, place: ThreadPlace): Promise<string | undefined> {
  const row = await lastSaying(tx, place)
  const event = row && eventOf(row)
  if (event?.type !== 'agent.message') return undefined
  return event.content.map(({ text }) => text).join('\n')
}

function shortened(text: string): string {
  if (text.length <= mostSent.characters) return text
  const note = `\n[cut: the message has ${text.length} characters]`
  return text.slice(0, mostSent.characters - note.length) + note
}
