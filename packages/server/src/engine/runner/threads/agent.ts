/** The agent that a thread runs, and the agents that it may start. */
import type { InlineAgent } from '@steward/harness/threads.ts'
import type { ThreadLine, ThreadTeam } from '@steward/harness/tools/threads.ts'
import { threadTools } from '@steward/harness/tools/threads.ts'
import type { Tool } from '@steward/harness/turn.ts'
import type { Clock } from '@steward/base/time.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { newId } from '../../../ground/core/ids.ts'
import { fromJson } from '../../../ground/core/json-text.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { sendersWaiting } from '../../../sessions/log/threads/messages.ts'
import { threadStore } from '../../../sessions/log/threads/store.ts'
import type { ThreadStanding } from '../../../sessions/log/head.ts'
import { readStandings } from '../../../sessions/log/threads/team.ts'
import { membersIn } from '../../../sessions/rows/roster.ts'
import type { SessionRow } from '../../../sessions/rows/sessions.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import type { ClaimedWork } from '../turn-deps.ts'
import type { NewThread, TeamRoster } from './effects.ts'

type Deps = { read: Reads; clock: Pick<Clock, 'sleep'> }

/** `row`: the session's row, with what inline tokens of MCP servers are found by. `team`: of an agent that may start others. */
type ThreadAgentFound = {
  agent: SessionAgent
  row: SessionRow
  team?: { tools: Tool[]; roster: TeamRoster }
}

export async function threadAgentOf(
  deps: Deps,
  work: ClaimedWork,
  row: SessionRow,
): Promise<ThreadAgentFound> {
  const { tenant, session, thread } = work
  const own = fromJson(row.agent)
  if (thread === undefined)
    return own.multiagent
      ? { agent: own, row, team: await teamOf(deps, work, own) }
      : { agent: own, row }
  const found = await threadStore(deps.read).find(tenant, session, thread)
  if (!found || found.agent === '') throw new Error(`thread ${thread} has no agent`)
  const agent = fromJson(found.agent)
  if (found.kind !== 'agent') return { agent, row }
  const ofMember = { agent_id: agent.id, agent_version: agent.version, sealed_tokens: null }
  return { agent, row: { ...row, ...ofMember } }
}

async function teamOf(
  deps: Deps,
  work: ClaimedWork,
  own: SessionAgent,
): Promise<{ tools: Tool[]; roster: TeamRoster } | undefined> {
  const { tenant, session } = work
  const kept = await sessionStore(deps.read).roster(tenant, session, own)
  const members = membersIn(own, kept)
  const allowsInline =
    own.multiagent?.type === 'multiagent_20261001' &&
    own.multiagent.subagents.type === 'enabled' &&
    own.multiagent.subagents.inline_agents.type === 'enabled'
  const roster: TeamRoster = {
    coordinator: own.name,
    agentOf: (asked) =>
      typeof asked === 'string' ? named(members, own, asked) : inline(own, asked),
  }
  if (members.length === 0 && !allowsInline) return undefined
  const team: ThreadTeam = {
    members: members.map(({ name, description }) => ({ name, description })),
    allowsInline,
    newThreadId: () => newId('thread'),
    list: async () => (await childrenOf(deps, work)).map(lineOf),
    settled: (threads, timeoutMs, signal) => settled(deps, work, { threads, timeoutMs, signal }),
  }
  return { tools: threadTools(team), roster }
}

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

const childrenOf = async ({ read }: Deps, { tenant, session }: ClaimedWork) =>
  (await readStandings(read, tenant, session)).filter(
    ({ kind }) => kind !== 'primary' && kind !== 'advisor',
  )

const works = ({ status, due }: ThreadStanding): boolean => status !== 'idle' || due === 1

const lineOf = (thread: ThreadStanding): ThreadLine => {
  const stop = thread.stop_reason === null ? undefined : fromJson(thread.stop_reason)
  return {
    session_thread_id: thread.id,
    agent_name: thread.name,
    status: works(thread) ? 'running' : 'idle',
    ...(!works(thread) && stop && { stop_reason: stop.type }),
  }
}

/** A change that nobody told of is seen after this time. */
const lookMs = 5_000

async function settled(
  deps: Deps,
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
    for (;;) {
      const change = work.crew?.changed()
      const all = await childrenOf(deps, work)
      const awaited = all.filter(({ id }) => threads?.includes(id) ?? true)
      const senders = await sendersWaiting(deps.read, work)
      const finished = awaited.map(({ id }) => id).filter((id) => senders.has(id))
      const isOver = finished.length > 0 || !awaited.some(works) || ends.aborted
      if (isOver) return { finished, threads: awaited.map(lineOf) }
      const look = new AbortController()
      await Promise.race([change, deps.clock.sleep(lookMs, AbortSignal.any([ends, look.signal]))])
      look.abort()
    }
  } finally {
    until.abort()
  }
}
