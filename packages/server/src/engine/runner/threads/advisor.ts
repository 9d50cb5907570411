/** Asks the advisor of a session's agent: a thread that ends with its first turn. [threads/advisor] */
import type { Advice } from '@steward/harness/tools/advisor.ts'
import { advisorPrompt } from '@steward/harness/tools/advisor.ts'
import { threadMessageText } from '@steward/harness/threads.ts'
import { advisorName } from '@steward/protocol/multiagent.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { threadIdOfCall } from '../../../ground/core/text/ids.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import type { Database, Queries, Reads } from '../../../ground/database/database.ts'
import { appendEntries } from '../../../sessions/log/append.ts'
import { getHeadForUpdate } from '../../../sessions/log/head.ts'
import { eventOf, readEvents } from '../../../sessions/log/log.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import type { SessionLease } from '../steps.ts'
import { isHeld } from '../steps.ts'
import type { ClaimedWork } from '../turn-deps.ts'
import type { NewThread } from './start-thread.ts'
import { startThread } from './start-thread.ts'

type AdvisorDeps = {
  database: Database
  now: () => number
  /** Resolves with the first result of `look` that is defined, and with undefined soon after the signal aborts. */
  wait: <T>(look: () => Promise<T | undefined>, signal: AbortSignal) => Promise<T | undefined>
}

/** An agent without tools, files and skills, and without the instructions of the agent that it advises. */
const advisorFor = (own: SessionAgent, model: string): NewThread => ({
  kind: 'advisor',
  name: advisorName,
  agent: {
    ...own,
    name: advisorName,
    description: null,
    system: advisorPrompt,
    model,
    multiagent: null,
    tools: [],
    mcp_servers: [],
    skills: [],
  },
})

export async function consultAdvisor(
  { database, now, wait }: AdvisorDeps,
  work: ClaimedWork,
  { own, model }: { own: SessionAgent; model: string },
  { question, call, signal }: { question: string; call: string; signal: AbortSignal },
): Promise<Advice> {
  const { tenant, session, generation } = work
  const id = threadIdOfCall(call)
  const fence = { owner: database.owners.self, generation }
  const asked = await database.write((tx) =>
    ask(tx, { tenant, session, fence }, { id, own, model, question, now: now() }),
  )
  if ('refused' in asked) return asked
  work.begin?.(asked.starts)
  const ended = await wait(async () => {
    const found = await threadStore(database.read).find(tenant, session, id)
    return found?.status === 'done' ? found : undefined
  }, signal)
  const stop = ended?.stop_reason ? fromJson(ended.stop_reason).type : 'interrupted'
  // An interrupted turn ends with `end_turn` too, but without a message.
  const words = stop === 'end_turn' ? await adviceOf(database.read, work, id) : undefined
  return words === undefined ? { refused: whyNot[stop] ?? noAdvice } : { words }
}

/** The advisor's answer, from the log. */
async function adviceOf(
  db: Reads,
  { tenant, session }: ClaimedWork,
  thread: string,
): Promise<string | undefined> {
  const types = ['agent.thread_message_sent'] as const
  const [row] = await readEvents(db, tenant, session, { thread, types, order: 'desc', limit: 1 })
  const sent = row && eventOf(row)
  if (sent?.type !== 'agent.thread_message_sent') return undefined
  const { id, content } = sent
  const from = { from_session_thread_id: thread, from_agent_name: advisorName }
  return threadMessageText({ id, type: 'agent.thread_message_received', ...from, content })
}

const noAdvice = 'the advisor gave no advice; go on without it'

const whyNot: Record<string, string> = {
  retries_exhausted: 'the model of the advisor failed; go on without its advice',
  refusal: 'the model of the advisor declined to answer; go on without its advice',
  budget_reached: 'the budget of the session was reached before the advisor had answered',
}

/** A repeated call finds the thread that it started. */
async function ask(
  tx: Queries,
  { tenant, session, fence }: SessionLease,
  asked: { id: string; own: SessionAgent; model: string; question: string; now: number },
): Promise<{ refused: string } | { starts: string[] }> {
  const { id, own, model, question: message, now } = asked
  const head = await getHeadForUpdate(tx, tenant, session)
  if (!isHeld(head, fence)) return { refused: 'the session was taken over by another process' }
  const store = threadStore(tx)
  const known = await store.find(tenant, session, id)
  if (known) return { starts: known.due === 1 ? [id] : [] }
  const isFirst = head.threads === 0
  const told = { id, found: advisorFor(own, model), message, coordinator: own.name, now }
  const started = await startThread(tx, { tenant, session }, { head, isFirst }, told)
  if ('refused' in started) return started
  const written = await appendEntries(tx, tenant, session, started.entries, {
    now,
    fence,
    set: { threads: 1 },
  })
  return written ? started : { refused: 'the session was taken over by another process' }
}
