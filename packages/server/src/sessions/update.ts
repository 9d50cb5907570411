/** Changes a session between its turns: title, metadata, tools, archive, deletion. */
import type { ModelRef } from '@steward/protocol/agents.ts'
import type { Session, SessionAgent, SessionUpdate } from '@steward/protocol/sessions.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { auditChange } from '../ground/core/security/audited-call.ts'
import { invalid, recordText } from '../ground/core/errors.ts'
import { newId } from '../ground/core/text/ids.ts'
import { isSameJson } from '../ground/core/text/same-json.ts'
import { mergeMetadata } from '../ground/core/text/metadata.ts'
import type { Seal } from '../ground/core/security/seal.ts'
import type { Queries } from '../ground/database/database.ts'
import type { Head } from './log/head.ts'
import { getHeadForUpdate } from './log/head.ts'
import { idleAgain } from './log/idle.ts'
import { readWaiting } from './log/inbox.ts'
import { buildCancellation, dropWaiting } from './log/inbox-end.ts'
import { appendEntries } from './log/append.ts'
import { endOutcome } from './events/end-outcome.ts'
import { overrideAgent } from './create.ts'
import { sealTokens } from './new-row.ts'
import type { SessionRow } from './rows/sessions.ts'
import { outbox } from '../tenants/webhooks/outbox.ts'
import { removeDependents } from './remove.ts'
import { serversOfHead } from './stdio-servers/readiness.ts'
import { showAgent } from './rows/roster.ts'
import { sessionStore } from './rows/sessions.ts'
import { cancelWakeup } from './rows/wakeups.ts'
import { budgetChange, threadsResumedBy } from './budget.ts'
import { endThreads } from './threads/archive.ts'
import { enqueueSession } from './work/queue.ts'
import { requestItemStop } from './work/queue.ts'
import { checkAgentSupport, checkToolsForWorker } from './resources/supported.ts'
import { fromJson, toJson } from '../ground/core/text/json-text.ts'
import { announceRowChange } from './log/topics.ts'
import { checkNotHeld } from '../ground/database/holds.ts'

/** The fields of `/v1`, and the model, which only other surfaces can change. */
export type SessionChange = Omit<SessionUpdate, 'agent'> & {
  agent?: (NonNullable<SessionUpdate['agent']> & { model?: ModelRef }) | null | undefined
}

type SessionFields = Partial<Pick<Session, 'title' | 'metadata' | 'budget'>> & {
  agent?: SessionAgent
}

/**
 * `addsBudget`: a session without a budget may get one. Tools and servers are replaced as a whole, for this session
 * only, and only between turns. [sessions/update/tools-local] [sessions/update/running]
 */
export async function updateSession(
  tx: Queries,
  tenant: string,
  id: string,
  input: SessionChange,
  { now, seal, addsBudget = false }: { now: number; seal: Seal; addsBudget?: boolean },
): Promise<Session> {
  const store = sessionStore(tx)
  const row = await store.getForUpdate(tenant, id)
  if (row.archived_at) throw invalid(`session ${id} is archived and cannot be changed`)
  const head = await getHeadForUpdate(tx, tenant, id)
  const { changed, columns, set, after } = changesOf(row, head, input, {
    seal,
    addsBudget,
  })
  if (Object.keys(changed).length === 0) return store.get(tenant, id, now)
  await store.update(tenant, id, columns, now)
  tellUpdate(row, changed)
  const { agent, ...others } = changed
  const shown = agent && { agent: showAgent(agent, await store.roster(tenant, id, agent)) }
  const event = { id: newId('event'), type: 'session.updated', ...others, ...shown } as const
  const dueThreads = 'budget' in changed ? await threadsResumedBy(tx, row, after) : []
  const resumes = dueThreads.length > 0
  const entries = [{ event }, ...(resumes ? [] : idleAgain(after, now))]
  await appendEntries(tx, tenant, id, entries, {
    now,
    set,
    ...(resumes && { due: true, dueThreads }),
  })
  if (resumes) await enqueueSession(tx, row, now)
  return store.get(tenant, id, now)
}

/** Reports the earlier values of the changed fields to the audit. */
function tellUpdate(row: SessionRow, changed: SessionFields): void {
  const { id, title } = row
  const kept = { title, metadata: fromJson(row.metadata), agent: fromJson(row.agent) }
  const names = Object.keys(changed)
  const before = Object.fromEntries(Object.entries(kept).filter(([name]) => names.includes(name)))
  auditChange({ type: 'session', id, before, after: changed })
}

/** `columns` of the session's row, `set` of its head; `after`: the head with the new budget. */
function changesOf(
  row: SessionRow,
  head: Head,
  input: SessionChange,
  { seal, addsBudget }: { seal: Seal; addsBudget: boolean },
) {
  const changed: SessionFields = {}
  if (input.title !== undefined && input.title !== row.title) changed.title = input.title
  const metadata = mergeMetadata(fromJson(row.metadata), input.metadata ?? {})
  if (JSON.stringify(metadata) !== row.metadata) changed.metadata = metadata
  const next = input.agent && replaced(row, input.agent)
  if (next && isRunning(head.status))
    throw invalid('agent: the session is running; interrupt it and wait until it is idle')
  if (next) changed.agent = next.agent
  const spending = budgetChange(head, input.budget, addsBudget)
  if (spending) changed.budget = input.budget ?? null
  const columns = { ...textColumns(changed), ...(next && agentColumns(row, next, seal)) }
  const set = { ...(next && serversOfHead(next.agent)), ...spending }
  return { changed, columns, set, after: { ...head, ...spending } }
}

const textColumns = ({ title, metadata }: SessionFields) => ({
  ...(title === undefined ? {} : { title }),
  ...(metadata && { metadata: toJson(metadata) }),
})

const agentColumns = (
  { tenant_id: tenant, id }: SessionRow,
  { agent, tokens }: ReturnType<typeof overrideAgent>,
  seal: Seal,
) => ({
  agent: recordText('agent', agent),
  ...(tokens ? { sealed_tokens: sealTokens(seal, { tenant, id }, tokens) } : {}),
})

/** Undefined when nothing would change. */
function replaced(
  row: SessionRow,
  change: NonNullable<SessionChange['agent']>,
): ReturnType<typeof overrideAgent> | undefined {
  const before = fromJson(row.agent)
  const next = overrideAgent(before, change)
  checkAgentSupport(next.agent, row.self_hosted === 1)
  if (row.self_hosted === 1) checkToolsForWorker(next.agent)
  const isSame = !next.tokens && isSameJson(next.agent, before)
  return isSame ? undefined : next
}

export const isRunning = (status: string): boolean =>
  status === 'running' || status === 'rescheduling'

/** Archives a session for good. A repeated call changes nothing. Refused during a turn. */
export async function archiveSession(
  tx: Queries,
  tenant: string,
  id: string,
  now: number,
): Promise<Session> {
  const store = sessionStore(tx)
  const row = await store.getForUpdate(tenant, id)
  if (row.archived_at) return store.get(tenant, id, now)
  const { status } = await getHeadForUpdate(tx, tenant, id)
  const last = { id: newId('event'), type: 'session.status_terminated' } as const
  if (status === 'failed') announceRowChange(tx, tenant, id)
  else await end(tx, tenant, id, now, 'archive', last)
  await store.archive(tenant, id, now)
  await outbox(tx).put(tenant, ['session.archived'], { id }, now)
  return store.get(tenant, id, now)
}

/** Deletes a session: later reads treat it as absent. Refused during a turn, and while a hold keeps it. */
export async function deleteSession(
  tx: Queries,
  tenant: string,
  id: string,
  now: number,
): Promise<void> {
  await sessionStore(tx).getForUpdate(tenant, id)
  await checkNotHeld(tx, tenant, `session ${id}`, id)
  await end(tx, tenant, id, now, 'delete', { id: newId('event'), type: 'session.deleted' })
  await removeDependents(tx, { tenant, session: id, now })
  await sessionStore(tx).remove(tenant, id, now)
}

async function end(
  tx: Queries,
  tenant: string,
  id: string,
  now: number,
  reason: string,
  last: NewEvent,
): Promise<void> {
  const head = await getHeadForUpdate(tx, tenant, id)
  if (isRunning(head.status))
    throw invalid(`session ${id} is running: interrupt it and wait until it is idle`)
  const queue = await readWaiting(tx, tenant, id)
  const gone = queue
    .filter(({ type }) => type === 'user.message')
    .map((message) => ({ event: buildCancellation(message, newId('event'), reason) }))
  await dropWaiting(tx, tenant, id, queue.at(-1)?.position ?? 0)
  // A runner removes the rest of a deleted session.
  const due = last.type === 'session.deleted'
  const threads =
    due || head.threads === 0 ? [] : await endThreads(tx, { tenant, session: id }, now)
  const asleep = due ? [] : await cancelWakeup(tx, { tenant, session: id }, 'archive')
  const explanation = 'The session was archived.'
  const ended = due
    ? []
    : (await endOutcome(tx, { tenant, session: id }, head, { result: 'failed', explanation }, now))
        .entries
  await appendEntries(tx, tenant, id, [...gone, ...threads, ...asleep, ...ended, { event: last }], {
    now,
    due,
  })
  await requestItemStop(tx, tenant, id, now)
}
