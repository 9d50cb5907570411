/** Creates a session in one transaction: pins the agent version and checks everything that the version needs. */
import type { AgentConfig, AgentUpdate, ModelRef } from '@steward/protocol/agents.ts'
import { advisorModel } from '@steward/protocol/multiagent.ts'
import type { DeploymentEvent } from '@steward/protocol/deployments.ts'
import type { Session, SessionAgent, SessionCreate } from '@steward/protocol/sessions.ts'
import type { Tokens } from '../resources/agents/config.ts'
import { updateConfig } from '../resources/agents/config.ts'
import { sessionAgent } from '../resources/agents/session-agent.ts'
import { agentStore } from '../resources/agents/store.ts'
import type { ActingThing } from '../ground/core/security/audited-call.ts'
import { auditChange } from '../ground/core/security/audited-call.ts'
import { invalid } from '../ground/core/errors.ts'
import { newId } from '../ground/core/text/ids.ts'
import type { Queries, Reads } from '../ground/database/database.ts'
import { checkShown } from '../resources/files/shown-media.ts'
import { appendEntries } from './log/append.ts'
import { toAdmission, admitEvents } from './log/inbox.ts'
import type { LongTexts } from './log/long-texts.ts'
import { announceRowChange, notifyRunners } from './log/topics.ts'
import type { ResolveModel } from '../resources/model-cards/resolve.ts'
import { pinRoster, membersAt } from './pin-roster.ts'
import { pinSkills } from '../resources/skills/pin-skills.ts'
import { auditActing } from '../tenants/audit/acting.ts'
import { outbox } from '../tenants/webhooks/outbox.ts'
import { defineOutcome } from './events/define-outcome.ts'
import { attachResources } from './resources/attach.ts'
import type { ResourceRequest } from './resources/kind.ts'
import { storesOfAgent } from './resources/memory-stores.ts'
import { budgetUnits } from './budget.ts'
import type { RowDeps } from './new-row.ts'
import { newRow } from './new-row.ts'
import { serversOfHead } from './stdio-servers/readiness.ts'
import { enqueueSession } from './work/queue.ts'
import type { Head } from './log/head.ts'
import type { SessionRow } from './rows/sessions.ts'
import { sessionStore } from './rows/sessions.ts'
import { showSession } from './rows/show-session.ts'

/** `id`: of the new session. `texts`: long texts of its first messages. */
type SessionCreateDeps = RowDeps & {
  id: string
  deploymentId?: string | undefined
  /** What creates the session, where no caller does. */
  actor?: ActingThing | undefined
  texts?: LongTexts
}

export type SessionOnly = Partial<
  Pick<AgentConfig, 'answers' | 'max_concurrent_subagents' | 'multiagent'>
>

/** A deployment's first events may have system messages too. */
export type SessionRequest = Omit<SessionCreate, 'initial_events'> & {
  initial_events?: DeploymentEvent[] | null | undefined
  /** The folder of the outputs below `/workspace`, in place of `/mnt/session/outputs`. */
  outputsPath?: string | undefined
  /** Fields of the agent that this session replaces, besides those of the wire. */
  also?: SessionOnly | undefined
}

/** A team that names no stored agents is shown as it is kept. */
const withTeam = ({ multiagent, ...also }: SessionOnly = {}): Partial<SessionAgent> => ({
  ...also,
  ...(multiagent !== undefined && { multiagent }),
})

/** Notifies runners and workers of the first events. */
export async function createSession(
  tx: Queries,
  tenant: string,
  input: SessionRequest,
  { now, seal, kinds, id, deploymentId, actor, texts, ...refusals }: SessionCreateDeps,
): Promise<Session> {
  const { agent: chosen, tokens } = await chooseAgent(tx, tenant, input.agent)
  const wanted = requestsOf(input, chosen)
  const skills = await pinSkills(tx, tenant, chosen.skills)
  const agent = { ...chosen, ...withTeam(input.also), skills }
  const row = await newRow(
    tx,
    tenant,
    {
      id,
      agent,
      tokens,
      environmentId: input.environment_id ?? agent.environment_id,
      vaultIds: input.vault_ids ?? [],
      wanted,
      title: input.title ?? null,
      metadata: input.metadata ?? {},
      rosterFor: (isElsewhere) => pinRoster(tx, tenant, agent, isElsewhere),
      forkedFrom: null,
      deploymentId: deploymentId ?? null,
      outputsPath: input.outputsPath ?? null,
      actor,
    },
    { now, seal, kinds, ...refusals },
  )
  const first = await firstOf({ tx, tenant, now }, input, texts)
  const isPending = eventsOf(input).length === 0
  const status = isPending ? 'pending' : 'running'
  const of = { ...serversOfHead(agent), budget: budgetUnits(input.budget) }
  const head = await sessionStore(tx).insert(row, status, of)
  await tellCreation(tx, row, actor, now)
  const pending = isPending ? (['session.pending'] as const) : []
  await outbox(tx).put(tenant, ['session.created', ...pending], { id }, now)
  const resources = await attachResources(tx, kinds, { tenant, session: id, now }, wanted)
  await enqueueSession(tx, row, now)
  if (first.length > 0) {
    await admitEvents(tx, tenant, id, first, { now, due: true })
    notifyRunners(tx, { tenant, session: id })
  }
  const shown = showSession(row, head, { now, resources })
  return withOutcome(tx, row, head, { input, now, shown })
}

const eventsOf = ({ initial_events }: SessionRequest) => initial_events ?? []

/** Defines the outcome that is among the first events. Returns the session with it. */
async function withOutcome(
  tx: Queries,
  row: SessionRow,
  head: Head,
  { input, now, shown }: { input: SessionRequest; now: number; shown: Session },
): Promise<Session> {
  for (const [index, event] of eventsOf(input).entries()) {
    if (event.type !== 'user.define_outcome') continue
    const asked = { ...event, id: newId('event') }
    const defined = await defineOutcome(
      tx,
      { session: row, head },
      asked,
      `initial_events.${index}`,
    )
    await appendEntries(tx, row.tenant_id, row.id, [{ event: defined }], { now, due: true })
    return sessionStore(tx).get(row.tenant_id, row.id, now)
  }
  announceRowChange(tx, row.tenant_id, row.id)
  return shown
}

/** Reports the creation to the audit. */
async function tellCreation(
  tx: Queries,
  { tenant_id, id, title, agent_id, agent_version, environment_id }: SessionRow,
  thing: ActingThing | undefined,
  now: number,
): Promise<void> {
  const after = { title, agent_id, agent_version, environment_id }
  const action = 'session.create'
  if (thing) await auditActing(tx, tenant_id, { thing, action, session: id, after }, now)
  else auditChange({ type: 'session', id, after })
}

/** The agent's own memory store comes last. */
function requestsOf({ resources }: SessionRequest, agent: SessionAgent): ResourceRequest[] {
  const named = (resources ?? []).map((resource, index) => ({
    resource,
    at: `resources.${index}.`,
  }))
  return [...named, ...storesOfAgent(agent, named)]
}

async function firstOf(
  deps: { tx: Queries; tenant: string; now: number },
  input: SessionRequest,
  texts?: LongTexts,
) {
  const events = eventsOf(input)
  for (const [index, event] of events.entries())
    if (event.type === 'user.message')
      await checkShown(deps, event.content, `initial_events.${index}`)
  return events.flatMap((event) => {
    if (event.type === 'user.define_outcome') return []
    const text = texts?.get(event)
    return toAdmission({ ...event, id: text?.id ?? newId('event') }, text)
  })
}

/** The models of a session's agent, of the agents that it may start, and of their advisors. */
export type SessionModels = {
  agents: { model: ModelRef; at: string; mcp_servers?: SessionAgent['mcp_servers'] }[]
  advisors: ModelRef[]
  environmentId?: string | null
}
/** Inputs of the checks that run before the transaction, because they may read a catalog. */
type ModelChecks = { resolveModel: ResolveModel; tenant: string; models: SessionModels }

/** The models of a session with this choice of agent. */
export async function resolveSessionModels(
  read: Reads,
  tenant: string,
  choice: SessionCreate['agent'],
): Promise<SessionModels> {
  const { agent } = await chooseAgent(read, tenant, choice)
  const all = [{ agent, at: 'agent' }, ...(await membersAt(read, tenant, agent))]
  return {
    agents: all.map(({ agent: { model, mcp_servers }, at }) => ({ model, mcp_servers, at })),
    environmentId: agent.environment_id,
    advisors: all.flatMap(({ agent: { multiagent } }) => advisorModel(multiagent) ?? []),
  }
}

/**
 * Refuses a speed that the model's provider does not offer. When the model card changes before the transaction, the
 * turn reports the error.
 */
export async function checkSpeed({ resolveModel, tenant, models }: ModelChecks): Promise<void> {
  for (const { model, at } of models.agents) {
    if (typeof model === 'string' || model.speed !== 'fast') continue
    const [plain, fast] = [
      await resolveModel(tenant, { ...model, speed: 'standard' }),
      await resolveModel(tenant, model),
    ]
    if (plain.ok && !fast.ok) throw invalid(`${at}.model.speed: ${fast.message}`)
  }
}

/** Refuses a budget for a model without a price, as `checkSpeed` does. [sessions/budget/priced] */
export async function checkBudget({ resolveModel, tenant, models }: ModelChecks): Promise<void> {
  for (const model of [...models.agents.map((each) => each.model), ...models.advisors]) {
    const resolved = await resolveModel(tenant, model)
    if (resolved.ok && resolved.price) continue
    const name = typeof model === 'string' ? model : model.id
    const why = resolved.ok
      ? `model ${name} has no price: set native_config.cost of its model card`
      : resolved.message
    throw invalid(`budget: ${why}`, 'model_not_budgetable')
  }
}

/** The requested agent version, or the newest, with this session's overrides and their tokens. */
export async function chooseAgent(
  db: Reads,
  tenant: string,
  choice: SessionCreate['agent'],
): Promise<{ agent: SessionAgent; tokens: Tokens | undefined }> {
  const agents = agentStore(db)
  const { id, version } = typeof choice === 'string' ? { id: choice, version: undefined } : choice
  const found =
    version === undefined ? await agents.get(tenant, id) : await agents.version(tenant, id, version)
  if (found.archived) throw invalid(`agent ${id} is archived and takes no new sessions`)
  const agent = sessionAgent(found)
  if (typeof choice === 'string' || choice.type === 'agent') return { agent, tokens: undefined }
  const { type: _type, id: _id, version: _version, ...overrides } = choice
  return overrideAgent(agent, overrides)
}

/** Each override replaces its whole field. Null and [] clear the field, but for the tools of an agent with skills. */
export function overrideAgent(
  agent: SessionAgent,
  overrides: Omit<AgentUpdate, 'version'>,
): { agent: SessionAgent; tokens: Tokens | undefined } {
  const { config, tokens } = updateConfig(agent, overrides)
  const { system, tools, mcp_servers, skills } = config
  // An update of an agent may keep the effort of its model. An override has nothing of it.
  const model = overrides.model ?? agent.model
  if (overrides.tools !== undefined && tools.length === 0 && skills.length > 0)
    throw invalid(
      'agent.tools: are not cleared while there are skills, which an agent follows by its tools; clear agent.skills too, or leave agent.tools out',
    )
  return { agent: { ...agent, model, system, tools, mcp_servers, skills }, tokens }
}
