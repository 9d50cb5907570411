/** Pins the agent version, checks what it would need, and makes the session, all in one transaction. */
import type { Agent, AgentUpdate } from '@steward/protocol/agents.ts'
import type { Session, SessionAgent, SessionCreate } from '@steward/protocol/sessions.ts'
import { updated } from '../agents/config.ts'
import { agentStore } from '../agents/store.ts'
import { invalid, recordText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { iso } from '../core/time.ts'
import type { Queries } from '../database/database.ts'
import { environmentStore } from '../environments/store.ts'
import { readHead } from '../events/head.ts'
import { admit } from '../events/inbox.ts'
import type { ResolveModel } from '../model-cards/resolve.ts'
import type { SessionRow } from './store.ts'
import { sessionStore, showSession } from './store.ts'
import { checkAgent, checkContent, checkEnvironment, checkRequest } from './supported.ts'

export async function createSession(
  tx: Queries,
  tenant: string,
  input: SessionCreate,
  now: number,
): Promise<Session> {
  checkRequest(input)
  const agent = await chooseAgent(tx, tenant, input.agent)
  checkAgent(agent)
  const environmentId = input.environment_id ?? agent.environment_id
  if (!environmentId) throw invalid('environment_id: required, as the agent names none')
  const environment = await environmentStore(tx).hold(tenant, environmentId)
  if (environment.archived) {
    throw invalid(
      `environment ${environmentId} is archived and takes no new sessions`,
      'environment_archived',
    )
  }
  checkEnvironment(environment.record)
  const at = iso(now)
  const row: SessionRow = {
    tenant_id: tenant,
    id: newId('session'),
    agent_id: agent.id,
    agent_version: agent.version,
    agent: recordText('agent', agent),
    environment_id: environmentId,
    title: input.title ?? null,
    metadata: JSON.stringify(input.metadata ?? {}),
    archived_at: null,
    deleted_at: null,
    created_at: at,
    updated_at: at,
  }
  const first = (input.initial_events ?? []).map((event, index) => {
    checkContent(event.content, `initial_events.${index}`)
    return { ...event, id: newId('event') }
  })
  await sessionStore(tx).insert(row, first.length > 0 ? 'running' : 'pending')
  if (first.length > 0) await admit(tx, tenant, row.id, first, { now, due: true })
  return showSession(row, await readHead(tx, tenant, row.id), now)
}

/**
 * A speed that the model's provider does not have is refused before the session is made. Asked outside of the
 * transaction, as it may take a look at a catalog; a card that changes meanwhile is told by the turn.
 */
export async function checkSpeed(
  read: Queries,
  resolveModel: ResolveModel,
  tenant: string,
  choice: SessionCreate['agent'],
): Promise<void> {
  const { model } = await chooseAgent(read, tenant, choice)
  if (typeof model === 'string' || model.speed !== 'fast') return
  const [plain, fast] = [
    await resolveModel(tenant, { ...model, speed: 'standard' }),
    await resolveModel(tenant, model),
  ]
  if (plain.ok && !fast.ok) throw invalid(`agent.model.speed: ${fast.message}`)
}

/** The version asked for, or the newest, with the overrides of this session. */
async function chooseAgent(
  tx: Queries,
  tenant: string,
  choice: SessionCreate['agent'],
): Promise<SessionAgent> {
  const agents = agentStore(tx)
  const { id, version } = typeof choice === 'string' ? { id: choice, version: undefined } : choice
  const agent =
    version === undefined ? await agents.get(tenant, id) : await agents.version(tenant, id, version)
  if (agent.archived) throw invalid(`agent ${id} is archived and takes no new sessions`)
  if (typeof choice === 'string' || choice.type === 'agent') return snapshot(agent)
  const { type: _type, id: _id, version: _version, ...overrides } = choice
  return { ...snapshot(agent), ...override(agent, overrides) }
}

/** Each override replaces its whole field; null and [] clear. */
export function override(agent: Agent | SessionAgent, overrides: Omit<AgentUpdate, 'version'>) {
  const { config } = updated(agent, overrides)
  const { model, system, tools, mcp_servers, skills } = config
  return { model, system, tools, mcp_servers, skills }
}

export function snapshot(agent: Agent): SessionAgent {
  const {
    archived: _archived,
    archived_at: _at,
    created_at: _made,
    updated_at: _changed,
    ...pinned
  } = agent
  return pinned
}
