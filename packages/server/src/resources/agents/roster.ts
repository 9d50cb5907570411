/** Resolves the agents that a `multiagent` names: each to one version, at the save of the agent that names them. */
import type { Agent, AgentConfig, AgentUpdate } from '@steward/protocol/agents.ts'
import type {
  AgentReference,
  MemberParams,
  Multiagent,
  MultiagentOf,
} from '@steward/protocol/multiagent.ts'
import {
  advisorName,
  isAdvisor,
  agentsPath,
  membersOf,
  withMembers,
} from '@steward/protocol/multiagent.ts'
import { invalid, recordText } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { RequestedMultiagent } from './multiagent.ts'
import { mergeMultiagent } from './multiagent.ts'
import type { PinnedAgent } from './store.ts'
import { agentStore } from './store.ts'

/** The agent that is saved, at its version before the save. `stampSelf` writes the new version. */
type Owner = Pick<Agent, 'id' | 'version' | 'name'>

/**
 * The `multiagent` of the saved agent. An agent of a list that the request leaves out keeps its version. Every other
 * agent is pinned to the newest version, or to the version that the request names. [agents/multiagent/pinned]
 */
export async function multiagentAfter(
  db: Reads,
  tenant: string,
  owner: Owner,
  { multiagent: asked }: AgentUpdate,
  kept?: AgentConfig,
): Promise<Multiagent | null> {
  const before = kept?.multiagent ?? null
  if (asked === null) return null
  if (asked === undefined) {
    if (owner.name !== kept?.name) await checkRename(db, tenant, owner, before)
    return before
  }
  return resolve(db, tenant, owner, mergeMultiagent(before, asked))
}

/**
 * Checks the names again when the agent itself is renamed, because an agent that may start itself is in its own list.
 */
async function checkRename(db: Reads, tenant: string, owner: Owner, kept: Multiagent | null) {
  const members = membersOf(kept)
  if (kept === null || !members.some(({ id }) => id === owner.id)) return
  const others = members.filter(({ id }) => id !== owner.id)
  const found = await agentStore(db).pinned(tenant, others)
  checkNames([...found.flatMap(({ agent }) => agent ?? []), owner], agentsPath(kept))
}

async function resolve(
  db: Reads,
  tenant: string,
  owner: Owner,
  asked: RequestedMultiagent,
): Promise<Multiagent> {
  const list = agentsPath(asked)
  checkAdvisors(asked)
  const entries = entriesOf(asked).map(({ member, index }) => ({
    at: `${list}.${index}`,
    ...referenceTo(member, owner, `${list}.${index}`),
  }))
  checkOnce(entries)
  checkInline(asked)
  const others = entries.filter(({ id }) => id !== owner.id)
  const found = await agentStore(db).pinned(tenant, others)
  const agents = others.map((entry, index) => checkMember(entry, found[index]))
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  const members = entries.map(({ id }): AgentReference & { name: string } => {
    const { version, name } = byId.get(id) ?? owner
    return { type: 'agent', id, version, name }
  })
  checkNames(members, list)
  recordText('agents of multiagent together', agents)
  return withMembers(
    asked,
    members.map(({ name: _, ...reference }) => reference),
  )
}

type RosterEntry = { id: string; version: number | undefined; at: string }

/** The agents with their index in the list. The advisor counts in the index and is left out. */
function entriesOf(asked: RequestedMultiagent): { member: MemberParams; index: number }[] {
  const list = asked.type === 'coordinator' ? asked.agents : membersOf(asked)
  return list.flatMap((member, index) => (isAdvisor(member) ? [] : [{ member, index }]))
}

function referenceTo(member: MemberParams, owner: Owner, at: string) {
  if (typeof member === 'string') return { id: member, version: undefined }
  if (member.type === 'self') return { id: owner.id, version: undefined }
  const { id, version } = member
  if (id === owner.id && version !== undefined && version !== owner.version)
    throw invalid(
      `${at}.version: an agent runs itself at its own version; send {"type": "self"} in place of the reference`,
    )
  return { id, version }
}

function checkAdvisors(asked: MultiagentOf<unknown>): void {
  if (asked.type !== 'coordinator') return
  const advisors = asked.agents.flatMap((entry, index) => (isAdvisor(entry) ? [index] : []))
  if (advisors.length > 1)
    throw invalid(`multiagent.agents.${advisors[1]}: the list has another advisor already`)
}

function checkOnce(entries: readonly RosterEntry[]): void {
  const known = new Set<string>()
  for (const { id, at } of entries) {
    if (known.has(id)) throw invalid(`${at}: the list names agent ${id} already`)
    known.add(id)
  }
}

function checkInline(asked: RequestedMultiagent): void {
  if (asked.type === 'coordinator' || asked.subagents.type === 'disabled') return
  const { inline_agents, predefined_agents } = asked.subagents
  if (inline_agents.type === 'disabled' && predefined_agents.length === 0)
    throw invalid(
      'multiagent.subagents.predefined_agents: must name an agent, as inline_agents are disabled',
    )
}

/** Refuses a second level: an agent that others start has no agents of its own. [agents/multiagent/members] */
function checkMember({ id, version, at }: RosterEntry, found: PinnedAgent | undefined): Agent {
  if (!found?.agent)
    throw found?.exists
      ? invalid(`${at}.version: agent ${id} has no version ${version}`)
      : invalid(`${at}: agent ${id} does not exist`)
  const { agent } = found
  if (agent.archived) throw invalid(`${at}: agent ${id} is archived`)
  if (agent.multiagent !== null)
    throw invalid(`${at}: agent ${id} has a multiagent of its own; there is one level only`)
  return agent
}

/** A coordinator starts its agents by their names. [agents/multiagent/names] */
function checkNames(members: readonly { id: string; name: string }[], list: string): void {
  const known = new Map<string, string>()
  for (const { id, name } of members) {
    if (name === advisorName)
      throw invalid(`${list}: agent ${id} has the name ${name}, which is reserved for the advisor`)
    const other = known.get(name)
    if (other !== undefined)
      throw invalid(`${list}: agents ${other} and ${id} are both named ${name}; rename one of them`)
    known.set(name, id)
  }
}
