/** Creates a session from a request of `/openai/v1`. */
import type { OpenAISessionCreate } from '@steward/protocol/openai/sessions.ts'
import { toUserMessages } from '@steward/protocol/openai/inputs.ts'
import type { Session, SessionCreate } from '@steward/protocol/sessions.ts'
import type { AgentCreate, ModelRef } from '@steward/protocol/agents.ts'
import type { Multiagent } from '@steward/protocol/multiagent.ts'
import type { EnvironmentMounts } from '@steward/protocol/environments.ts'
import { invalid } from '../../../ground/core/errors.ts'
import type { Queries, Reads, TenantRef } from '../../../ground/database/database.ts'
import { buildAgentConfig } from '../../../resources/agents/config.ts'
import { agentStore } from '../../../resources/agents/store.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import type { SessionOnly, SessionRequest } from '../../../sessions/create.ts'
import type { OpenSessionDeps } from '../../../sessions/open.ts'
import { openSession } from '../../../sessions/open.ts'
import { inlineAgent, toMultiagent, toAgentOverrides, toSessionOnly } from '../agents/agent.ts'
import { findAgent } from '../agents/find.ts'
import { toolsFor } from '../agents/tools.ts'
import { toEnvironmentMounts, noMounts, skillRefs } from '../environments/mounts.ts'
import type { FileDeps, KeepFiles } from '../environments/inline-files.ts'
import { withStagedFiles } from '../environments/inline-files.ts'
import type { NamedEnvironment } from './environment.ts'
import { makeEnvironment, namedBy, openaiOutputs } from './environment.ts'
import { toBudget } from './update.ts'

type SessionAgentChoice = Exclude<SessionCreate['agent'], string>
type ChosenAgent = {
  /** The choice of a stored agent. */
  choice?: SessionAgentChoice
  /** An agent that is created for this session alone. */
  inline?: AgentCreate
  multiagent?: Multiagent | null
  /** Fields of the stored agent that the session replaces. */
  also?: SessionOnly
}

/** The model without the fast mode where its provider has none: a service tier is a wish. */
async function servedModel(
  { resolveModel }: OpenSessionDeps,
  tenant: string,
  model: ModelRef,
): Promise<ModelRef> {
  if (typeof model === 'string' || model.speed !== 'fast') return model
  const plain = { ...model, speed: 'standard' as const }
  const [fast, usual] = [await resolveModel(tenant, model), await resolveModel(tenant, plain)]
  return fast.ok || !usual.ok ? model : plain
}

async function chooseAgent(
  deps: OpenSessionDeps,
  { db, tenant }: TenantRef,
  { agent_id, agent: given = {}, environment }: SessionGiven,
  { skills: mounted }: EnvironmentMounts,
): Promise<ChosenAgent> {
  const hasEnvironment = environment.type !== 'none'
  if (agent_id === undefined) {
    const { model } = given
    if (model === undefined) throw invalid('agent.model: is required')
    const agent = inlineAgent({ ...given, model })
    const ref = await servedModel(deps, tenant, agent.model)
    const multiagent = toMultiagent(given.multi_agent, null)
    const skills = skillRefs(mounted)
    return {
      multiagent,
      inline: { ...agent, model: ref, skills, tools: toolsFor(agent.tools ?? [], hasEnvironment) },
    }
  }
  const agent = await findAgent(db.read, tenant, agent_id)
  const overrides = toAgentOverrides(given, agent)
  const model = await servedModel(deps, tenant, overrides.model ?? agent.model)
  const choice: SessionAgentChoice = {
    type: 'agent_with_overrides',
    id: agent.id,
    version: agent.version,
    ...overrides,
    model,
    tools: toolsFor(overrides.tools ?? agent.tools, hasEnvironment),
    skills: [...agent.skills, ...skillRefs(mounted)],
  }
  return { choice, also: toSessionOnly(given, agent) }
}

/** The mounts of the named environment, and those of the request. */
async function mountsFor(
  read: Reads,
  tenant: string,
  environment: NamedEnvironment,
): Promise<EnvironmentMounts> {
  if (environment.type === 'none') return noMounts
  const id = namedBy(environment)
  const kept = id === undefined ? undefined : await environmentStore(read).record(tenant, id)
  const [named, own] = [kept?.mounts ?? noMounts, toEnvironmentMounts(environment)]
  const { vault_ids = [] } = named
  return {
    files: [...named.files, ...own.files],
    skills: [...named.skills, ...own.skills],
    vault_ids,
  }
}

const resourcesOf = ({ files }: EnvironmentMounts): SessionCreate['resources'] =>
  files.map(({ file_id, path }) => ({ type: 'file', file_id, mount_path: path }))

/** Stores the agent of the session without the tokens of its servers: only the session has the tokens. */
async function storeInline(
  tx: Queries,
  tenant: string,
  { inline, multiagent = null }: { inline: AgentCreate; multiagent?: Multiagent | null },
  now: number,
) {
  const { config } = buildAgentConfig(inline)
  const { id } = await agentStore(tx).create(tenant, { ...config, multiagent }, {}, now)
  const { mcp_servers, tools } = inline
  return { type: 'agent_with_overrides' as const, id, mcp_servers, tools }
}

/**
 * Creates a session. An agent or environment that is created for the session is archived in the same unit. The session
 * keeps both, and nobody else uses or lists them.
 */
export function createFrom(
  deps: FileDeps,
  ref: TenantRef,
  asked: OpenAISessionCreate,
): Promise<Session> {
  const { environment } = asked
  if (environment.type === 'none') return createWith(deps, ref, { ...asked, environment })
  return withStagedFiles(deps, ref.tenant, environment, (named, keep) =>
    createWith(deps, ref, { ...asked, environment: named }, keep),
  )
}

type SessionGiven = Omit<OpenAISessionCreate, 'environment'> & { environment: NamedEnvironment }

async function createWith(
  deps: OpenSessionDeps,
  { db, tenant }: TenantRef,
  asked: SessionGiven,
  keepFiles?: KeepFiles,
): Promise<Session> {
  const mounts = await mountsFor(db.read, tenant, asked.environment)
  const { choice, inline, multiagent, also } = await chooseAgent(
    deps,
    { db, tenant },
    asked,
    mounts,
  )
  let own: { agent?: string; environment?: string } = {}
  const input: SessionRequest = {
    agent: choice ?? { type: 'agent', id: '' },
    environment_id: asked.environment.type === 'none' ? null : namedBy(asked.environment),
    metadata: asked.metadata ?? {},
    vault_ids: [...new Set([...(asked.vault_ids ?? []), ...(mounts.vault_ids ?? [])])],
    resources: resourcesOf(mounts),
    initial_events: toUserMessages(asked.input ?? []),
    budget: toBudget(asked.spend_control?.limit ?? null),
    outputsPath: openaiOutputs,
    also,
  }
  return openSession(deps, { db, tenant }, input, {
    agent: inline,
    async make(tx, { id, now }) {
      own = {}
      await keepFiles?.(tx)
      const environment = await makeEnvironment(tx, tenant, asked.environment, { id, now })
      if (environment.isOwn) own.environment = environment.id
      if (!inline) return { environment_id: environment.id || null }
      const agent = await storeInline(tx, tenant, { inline, multiagent }, now)
      own.agent = agent.id
      return { environment_id: environment.id || null, agent }
    },
    async finish(tx, _made, now) {
      if (own.environment) await environmentStore(tx).archive(tenant, own.environment, now)
      if (own.agent) await agentStore(tx).archive(tenant, own.agent, now)
    },
  })
}
