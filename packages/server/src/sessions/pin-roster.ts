/** Fixes, when a session is created, the agents that its agent may start. */
import { agentsPath, membersOf } from '@steward/protocol/multiagent.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { invalid, recordText } from '../ground/core/errors.ts'
import type { Reads } from '../ground/database/database.ts'
import { sessionAgent } from '../resources/agents/session-agent.ts'
import { agentStore } from '../resources/agents/store.ts'
import { pinSkills } from '../resources/skills/pin-skills.ts'
import { checkAgentSupport, checkToolsForWorker } from './resources/supported.ts'
import type { Roster } from './rows/roster.ts'

type RosterMember = { agent: SessionAgent; at: string }

/**
 * The agents of the list at the versions that the saved agent names, without the agent itself. Refuses a list with an
 * agent that was archived since. [sessions/create/archived-member]
 */
export async function membersAt(
  db: Reads,
  tenant: string,
  { id, multiagent }: SessionAgent,
): Promise<RosterMember[]> {
  if (multiagent === null) return []
  const list = `agent.${agentsPath(multiagent)}`
  const others = membersOf(multiagent).flatMap((member, index) =>
    member.id === id ? [] : [{ ...member, at: `${list}.${index}` }],
  )
  const found = await agentStore(db).pinned(tenant, others)
  return others.map((reference, index) => {
    const agent = found[index]?.agent
    const { at } = reference
    if (!agent) throw new Error(`${at}: agent ${reference.id}/${reference.version} has no row`)
    if (agent.archived)
      throw invalid(`${at}: agent ${agent.id} is archived; take it out of the list of agent ${id}`)
    return { agent: sessionAgent(agent), at }
  })
}

/** Null when the agent starts no other agents. */
export async function pinRoster(
  db: Reads,
  tenant: string,
  agent: SessionAgent,
  isElsewhere: boolean,
): Promise<Roster> {
  const members = await membersAt(db, tenant, agent)
  if (members.length === 0) return null
  const roster: SessionAgent[] = []
  for (const { agent: member, at } of members) {
    checkMember(member, isElsewhere, at)
    const skills = await pinSkills(db, tenant, member.skills, `${at}.skills`)
    roster.push({ ...member, skills })
  }
  return recordText('agents of multiagent together', roster)
}

function checkMember(member: SessionAgent, isElsewhere: boolean, at: string): void {
  checkAgentSupport(member, isElsewhere, at)
  if (isElsewhere) checkToolsForWorker(member, at)
  const started = member.mcp_servers.findIndex(({ url }) => !url)
  if (started >= 0)
    throw invalid(
      `${at}.mcp_servers.${started}: a worker starts the stdio servers of the session's own agent alone`,
    )
}
