/**
 * The agents that a session's agent may start, as their threads run them. They are fixed when the session is created,
 * and stored in a column that a turn without threads does not read. An agent that may start itself is stored once, as
 * the session's agent.
 */
import type { ThreadAgent } from '@steward/protocol/agents.ts'
import { membersOf, withMembers } from '@steward/protocol/multiagent.ts'
import type { SessionAgent, ShownSessionAgent } from '@steward/protocol/sessions.ts'
import type { Json } from '../../ground/core/text/json-text.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { Tables } from '../../ground/database/tables.ts'

export type Roster = Tables['sessions']['roster']

/** The members of an agent's roster, in the order of its list. No member has a `multiagent` of its own. */
export function membersIn(agent: SessionAgent, roster: Roster): SessionAgent[] {
  const members = membersOf(agent.multiagent)
  if (members.length === 0) return []
  const others = new Map((fromJson(roster) ?? []).map((each) => [each.id, each]))
  return members.flatMap(({ id }) => {
    const member = id === agent.id ? { ...agent, multiagent: null } : others.get(id)
    return member ? [member] : []
  })
}

/** The agent of this name that the session's agent may start, as its thread runs it. Names in a list are distinct. */
export const memberNamed = (
  session: { agent: Json<SessionAgent>; roster: Roster },
  name: string,
): SessionAgent | undefined =>
  membersIn(fromJson(session.agent), session.roster).find((member) => member.name === name)

/** An agent as threads show theirs, without the fields that only a session or an agent has. */
export function threadAgent(agent: SessionAgent | ShownSessionAgent): ThreadAgent {
  const {
    metadata: _metadata,
    multiagent: _multiagent,
    environment_id: _environment,
    memory_store_id: _store,
    harness: _harness,
    answers: _answers,
    max_concurrent_subagents: _most,
    ...shown
  } = agent
  return shown
}

/** The agent of a session as replies and events show it. [sessions/create/multiagent] */
export function showAgent(agent: SessionAgent, roster: Roster): ShownSessionAgent {
  const { multiagent, ...rest } = agent
  if (!multiagent) return { ...rest, multiagent: null }
  const members = membersIn(agent, roster).map(threadAgent)
  return { ...rest, multiagent: withMembers(multiagent, members) }
}
