/**
 * The effects of a call's result on the threads of its session, in the commit that stores the result. [threads/effects]
 */
import type { CallEffect } from '@steward/harness/effects.ts'
import type { InlineAgent, ThreadEffect } from '@steward/harness/threads.ts'
import type { KeepReply } from '@steward/harness/turn.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { primaryThreadId } from '../../../ground/core/text/ids.ts'
import { appendEntries } from '../../../sessions/log/append.ts'
import { appendInThread } from '../../../sessions/log/threads/append.ts'
import type { Head } from '../../../sessions/log/head.ts'
import { getHeadForUpdate } from '../../../sessions/log/head.ts'
import { isWorking } from '../../../sessions/log/threads/team.ts'
import type { LogEntry, PromotedMessage } from '../../../sessions/log/log.ts'
import { eventOf } from '../../../sessions/log/log.ts'
import {
  findSendRefusal,
  sendMessage,
  takeMessages,
} from '../../../sessions/log/threads/messages.ts'
import type { ThreadRow } from '../../../sessions/log/threads/store.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import type { SessionLease, Step } from '../steps.ts'
import { isHeld, nextStep } from '../steps.ts'
import type { OwnEffectParts } from '../own-effects.ts'
import { applyOwnEffect } from '../own-effects.ts'
import type { NewThread } from './start-thread.ts'
import { startThread } from './start-thread.ts'

/** Child threads of a session that are not archived. An advisor does not count. */
export const mostThreads = 25

export type TeamRoster = {
  /** The name of the session's agent. */
  coordinator: string
  /** The most child threads that may work at one time. */
  mostWorking: number
  agentOf: (agent: string | InlineAgent) => NewThread | { refused: string }
}

/** `works`: the thread in `starts` is in the middle of a turn. */
type EffectResult =
  | { refused: string }
  | { entries: (LogEntry | PromotedMessage)[]; starts: string[]; works?: boolean }

/** `starts`: child threads that are due now. `step`: the first step of the thread `begins`. */
export type KeptWithEffect = { reply: KeepReply; starts: string[]; step?: Step | undefined }

/**
 * Stores events of a turn together with their effect. `begins`: a parked thread, whose first step is recorded in the
 * same commit. Undefined when the lease was lost.
 */
export async function keepWithEffect(
  tx: Queries,
  lease: SessionLease,
  {
    kept,
    effect,
    begins,
  }: { kept: readonly LogEntry[]; effect: CallEffect; begins?: string | undefined },
  { roster, automations }: OwnEffectParts & { roster?: TeamRoster | undefined },
  now: number,
): Promise<KeptWithEffect | undefined> {
  const { tenant, session, fence } = lease
  const head = await getHeadForUpdate(tx, tenant, session)
  if (!isHeld(head, fence)) return undefined
  if (effect.kind === 'wake' || effect.kind === 'automation') {
    const own = await applyOwnEffect(tx, lease, effect, { automations, now })
    if ('refused' in own) return { reply: own, starts: [] }
    const written = await appendInThread(tx, lease, behindResult(kept, own.entries), now)
    return written && { reply: { added: [] }, starts: [] }
  }
  if (!roster) throw new Error('a tool acts on threads in a session without other agents')
  const done = await effects(tx, lease, head, { effect, roster, now })
  if ('refused' in done) return { reply: done, starts: [] }
  const { entries, starts, works } = done
  const all = behindResult<LogEntry | PromotedMessage>(kept, entries)
  const set = effect.kind === 'create' ? { threads: 1 as const } : {}
  const written = await appendEntries(tx, tenant, session, all, { now, fence, set })
  if (!written) return undefined
  const added = entries.map((entry) => ('event' in entry ? entry : { event: eventOf(entry) }))
  const reply = { added }
  if (begins === undefined || works) return { reply, starts }
  const of = { ...lease, thread: begins }
  return { reply, starts, step: await nextStep(tx, of, { now, claimed: false }) }
}

/** Inserts the entries of the effect between the result and the start of the next model request. */
const behindResult = <E>(
  [result, ...behind]: readonly LogEntry[],
  entries: readonly E[],
): (LogEntry | E)[] => [...(result ? [result] : []), ...entries, ...behind]

type EffectRequest = { roster: TeamRoster; now: number }

function effects(
  tx: Queries,
  lease: SessionLease,
  head: Head,
  { effect, ...asked }: EffectRequest & { effect: ThreadEffect },
): Promise<EffectResult> {
  switch (effect.kind) {
    case 'create':
      return createThread(tx, lease, head, effect, asked)
    case 'send':
      return sendTo(tx, lease, effect, asked)
    case 'receive':
      return receive(tx, lease, effect)
  }
}

async function createThread(
  tx: Queries,
  { tenant, session }: SessionLease,
  head: Head,
  { thread: id, agent: asked, message }: Extract<ThreadEffect, { kind: 'create' }>,
  { roster, now }: EffectRequest,
): Promise<EffectResult> {
  const store = threadStore(tx)
  const found = roster.agentOf(asked)
  if ('refused' in found) return found
  const all = await store.all(tenant, session)
  const living = all.filter(
    ({ kind, archived_at }) => kind !== 'primary' && kind !== 'advisor' && archived_at === null,
  )
  if (living.length >= mostThreads)
    return {
      refused: `${mostThreads} agents are started already, which is the most; send a message to one of them, or ask the user to archive threads that have finished`,
    }
  const working = living.filter(({ status, due }) => status !== 'idle' || due === 1).length
  if (working >= roster.mostWorking)
    return {
      refused: `${working} agents work already, which is the most at one time; wait until one has finished`,
    }
  const told = { id, found, message, coordinator: roster.coordinator, now }
  return startThread(tx, { tenant, session }, { head, isFirst: all.length === 0 }, told)
}

async function sendTo(
  tx: Queries,
  { tenant, session }: SessionLease,
  { thread: id, message }: Extract<ThreadEffect, { kind: 'send' }>,
  { now }: EffectRequest,
): Promise<EffectResult> {
  const store = threadStore(tx)
  const to = await store.find(tenant, session, id)
  const why = refusalToSend(id, to)
  if (!to || why !== undefined) return { refused: why ?? '' }
  const refused = await findSendRefusal(tx, { tenant, session }, to, message)
  if (refused !== undefined) return { refused }
  const from = { id: primaryThreadId(session), kind: 'primary', name: '' } as const
  const sent = await sendMessage(tx, { tenant, session }, { from, to, text: message, now })
  return { entries: [{ event: sent }], starts: [id], works: isWorking(to.status) }
}

function refusalToSend(id: string, to: ThreadRow | undefined): string | undefined {
  if (!to || to.kind === 'primary' || to.kind === 'advisor')
    return `there is no agent with session_thread_id ${JSON.stringify(id)}; list_agents names those that you have started`
  return to.archived_at === null
    ? undefined
    : `the thread of ${to.name} is archived and takes no more messages`
}

async function receive(
  tx: Queries,
  { tenant, session }: SessionLease,
  { threads }: Extract<ThreadEffect, { kind: 'receive' }>,
): Promise<EffectResult> {
  return { entries: await takeMessages(tx, { tenant, session }, threads), starts: [] }
}
