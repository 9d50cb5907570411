/** The agent that a thread runs, and the agents that it may start. */
import type { InlineAgent } from '@steward/harness/threads.ts'
import type { ThreadLine, ThreadTeam } from '@steward/harness/tools/threads.ts'
import { threadTools } from '@steward/harness/tools/threads.ts'
import { advisorTool } from '@steward/harness/tools/advisor.ts'
import { answersPrompt } from '@steward/harness/prompt.ts'
import { childPrompt } from '@steward/harness/threads.ts'
import { mostSubagents } from '@steward/protocol/agents.ts'
import { advisorModel } from '@steward/protocol/multiagent.ts'
import type { Tool } from '@steward/harness/turn.ts'
import type { Clock } from '@steward/base/time.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { fromJson } from '../../../ground/core/text/json-text.ts'
import type { Database } from '../../../ground/database/database.ts'
import { sendersWaiting } from '../../../sessions/log/threads/messages.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import type { ThreadState } from '../../../sessions/log/head.ts'
import { readStandings } from '../../../sessions/log/threads/team.ts'
import { membersIn } from '../../../sessions/rows/roster.ts'
import type { SessionRow } from '../../../sessions/rows/sessions.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import type { ClaimedWork } from '../turn-deps.ts'
import type { TeamRoster } from './effects.ts'
import type { NewThread } from './start-thread.ts'
import { consultAdvisor } from './advisor.ts'
import { withWebLists } from './web-lists.ts'

type ThreadAgentDeps = { database: Database; clock: Clock }

/**
 * `row`: the session's row; its agent id, version and sealed tokens find the inline tokens of MCP servers. `team`: only
 * for an agent that may start others. `parts`: of the prompt, about the form of answers, or for an agent that another
 * agent has started. `answerSchema`: of the session's own agent alone.
 */
type ThreadAgentFound = {
  agent: SessionAgent
  row: SessionRow
  parts: string[]
  answerSchema?: Record<string, unknown> | undefined
  team?: { tools: Tool[]; roster: TeamRoster }
}

export async function loadThreadAgent(
  deps: ThreadAgentDeps,
  work: ClaimedWork,
  row: SessionRow,
): Promise<ThreadAgentFound> {
  const { tenant, session, thread } = work
  const own = fromJson(row.agent)
  if (thread === undefined) {
    const parts = answersPrompt(own.answers)
    const primary = { agent: own, row, parts, answerSchema: own.answers?.schema }
    return own.multiagent ? { ...primary, team: await teamOf(deps, work, own) } : primary
  }
  const found = await threadStore(deps.database.read).find(tenant, session, thread)
  if (!found || found.agent === '') throw new Error(`thread ${thread} has no agent`)
  const kept = fromJson(found.agent)
  if (found.kind === 'advisor') return { agent: kept, row, parts: [] }
  const agent = { ...kept, tools: withWebLists(kept.tools, own.tools) }
  const parts = [childPrompt(agent.name)]
  if (found.kind !== 'agent') return { agent, row, parts }
  const ofMember = { agent_id: agent.id, agent_version: agent.version, sealed_tokens: null }
  return { agent, row: { ...row, ...ofMember }, parts }
}

async function teamOf(
  deps: ThreadAgentDeps,
  work: ClaimedWork,
  own: SessionAgent,
): Promise<{ tools: Tool[]; roster: TeamRoster } | undefined> {
  const { tenant, session } = work
  const kept = await sessionStore(deps.database.read).roster(tenant, session, own)
  const members = membersIn(own, kept)
  const allowsInline =
    own.multiagent?.type === 'multiagent_20261001' &&
    own.multiagent.subagents.type === 'enabled' &&
    own.multiagent.subagents.inline_agents.type === 'enabled'
  const roster: TeamRoster = {
    coordinator: own.name,
    mostWorking: own.max_concurrent_subagents ?? mostSubagents,
    agentOf: (asked) =>
      typeof asked === 'string' ? named(members, own, asked) : inline(own, asked),
  }
  const model = advisorModel(own.multiagent)
  const advisors = model === undefined ? [] : [advisorOf(deps, work, { own, model })]
  if (members.length === 0 && !allowsInline)
    return model === undefined ? undefined : { tools: advisors, roster }
  const team: ThreadTeam = {
    members: members.map(({ name, description }) => ({ name, description })),
    allowsInline,
    newThreadId: () => newId('thread'),
    list: async () => (await childrenOf(deps, work)).map(lineOf),
    settled: (threads, timeoutMs, signal) => settled(deps, work, { threads, timeoutMs, signal }),
  }
  return { tools: [...threadTools(team), ...advisors], roster }
}

const advisorOf = (
  { database, clock }: ThreadAgentDeps,
  work: ClaimedWork,
  advised: { own: SessionAgent; model: string },
): Tool =>
  advisorTool((question, call, signal) => {
    const deps = {
      database,
      now: () => clock.now(),
      wait: <T>(look: () => Promise<T | undefined>, ends: AbortSignal) =>
        whenFound(clock, work, look, ends),
    }
    return consultAdvisor(deps, work, advised, { question, call, signal })
  })

function named(
  members: readonly SessionAgent[],
  own: SessionAgent,
  name: string,
): NewThread | { refused: string } {
  const agent = members.find((member) => member.name === name)
  if (!agent) return { refused: `there is no agent ${JSON.stringify(name)}` }
  return { kind: agent.id === own.id ? 'self' : 'agent', name, agent }
}

const inline = (own: SessionAgent, { name, system, model }: InlineAgent): NewThread => ({
  kind: 'inline',
  name,
  agent: { ...own, name, description: null, system, model: model ?? own.model, multiagent: null },
})

const childrenOf = async ({ database }: ThreadAgentDeps, { tenant, session }: ClaimedWork) =>
  (await readStandings(database.read, tenant, session)).filter(
    ({ kind }) => kind !== 'primary' && kind !== 'advisor',
  )

const works = ({ status, due }: ThreadState): boolean => status !== 'idle' || due === 1

const lineOf = (thread: ThreadState): ThreadLine => {
  const stop = thread.stop_reason === null ? undefined : fromJson(thread.stop_reason)
  return {
    session_thread_id: thread.id,
    agent_name: thread.name,
    status: works(thread) ? 'running' : 'idle',
    ...(!works(thread) && stop && { stop_reason: stop.type }),
  }
}

/** Calls `look` whenever a thread has gone idle, and once more after the signal has aborted. */
async function whenFound<T>(
  clock: Clock,
  work: ClaimedWork,
  look: () => Promise<T | undefined>,
  ends: AbortSignal,
): Promise<T | undefined> {
  for (;;) {
    const isLast = ends.aborted
    const change = work.crew?.changed()
    const found = await look()
    if (found !== undefined || isLast) return found
    const rested = new AbortController()
    await Promise.race([change, clock.sleep(lookMs, AbortSignal.any([ends, rested.signal]))])
    rested.abort()
  }
}

/** Poll interval for a change whose notification was lost. */
const lookMs = 5_000

async function settled(
  deps: ThreadAgentDeps,
  work: ClaimedWork,
  {
    threads,
    timeoutMs,
    signal,
  }: { threads?: readonly string[] | undefined; timeoutMs: number; signal: AbortSignal },
): Promise<{ finished: string[]; threads: ThreadLine[] }> {
  const until = new AbortController()
  const ends = AbortSignal.any([signal, until.signal])
  void deps.clock.sleep(timeoutMs, ends).then(() => until.abort())
  try {
    const found = await whenFound(
      deps.clock,
      work,
      async () => {
        const all = await childrenOf(deps, work)
        const awaited = all.filter(({ id }) => threads?.includes(id) ?? true)
        const senders = await sendersWaiting(deps.database.read, work)
        const finished = awaited.map(({ id }) => id).filter((id) => senders.has(id))
        const isOver = finished.length > 0 || !awaited.some(works) || ends.aborted
        return isOver ? { finished, threads: awaited.map(lineOf) } : undefined
      },
      ends,
    )
    return found ?? { finished: [], threads: [] }
  } finally {
    until.abort()
  }
}
