/** Creates a session in one transaction: pins the agent version and checks everything that the version needs. */
import type { Agent, AgentUpdate } from '@steward/protocol/agents.ts'
import type { Session, SessionAgent, SessionCreate } from '@steward/protocol/sessions.ts'
import type { Tokens } from '../resources/agents/config.ts'
import { updateConfig } from '../resources/agents/config.ts'
import { agentStore } from '../resources/agents/store.ts'
import { invalid, recordText } from '../ground/core/errors.ts'
import { newId } from '../ground/core/ids.ts'
import type { Seal } from '../ground/core/seal.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, Reads } from '../ground/database/database.ts'
import { environmentStore } from '../resources/environments/store.ts'
import { checkShown } from '../resources/files/shown.ts'
import { admission, admit } from './log/inbox.ts'
import type { LongTexts } from './log/long-texts.ts'
import type { ResolveModel } from '../resources/model-cards/resolve.ts'
import { pinSkills } from '../resources/skills/pin.ts'
import { vaultStore } from '../resources/vaults/store.ts'
import { outbox } from '../tenants/webhooks/outbox.ts'
import { attachResources } from './resources/attach.ts'
import type { ResourceRequest } from './resources/kind.ts'
import type { ResourceKinds } from './resources/kinds.ts'
import { storesOfAgent } from './resources/memory-stores.ts'
import { budgetUnits } from './budget.ts'
import { serversOfHead } from './stdio-servers/readiness.ts'
import { enqueueSession } from './work/enqueue-session.ts'
import type { SessionRow } from './rows/sessions.ts'
import { sessionStore, showSession, tokenPlace } from './rows/sessions.ts'
import type { Refusals } from './resources/supported.ts'
import {
  checkAgent,
  checkEnvironment,
  checkInputs,
  checkToolsForWorker,
  checkVaultForWorker,
} from './resources/supported.ts'
import { toJson } from '../ground/core/json-text.ts'
import type { Json } from '../ground/core/json-text.ts'
import type { SealedTokens } from '../ground/database/tables.ts'

/** `id`: the session's. `texts`: of its first messages. */
type CreateDeps = Refusals & {
  now: number
  seal: Seal
  kinds: ResourceKinds
  id: string
  texts?: LongTexts
}

/** `queue`: the environment whose workers to notify. */
export type Created = { session: Session; queue: string | undefined }

export async function createSession(
  tx: Queries,
  tenant: string,
  input: SessionCreate,
  { now, seal, kinds, id, texts, ...refusals }: CreateDeps,
): Promise<Created> {
  const { agent: chosen, tokens } = await chooseAgent(tx, tenant, input.agent)
  const wanted = requestsOf(input, chosen)
  const agent = { ...chosen, skills: await pinSkills(tx, tenant, chosen.skills) }
  const environmentId = input.environment_id ?? agent.environment_id
  if (!environmentId) throw invalid('environment_id: required, as the agent names none')
  const environment = await environmentStore(tx).hold(tenant, environmentId)
  if (environment.archived) {
    throw invalid(
      `environment ${environmentId} is archived and takes no new sessions`,
      'environment_archived',
    )
  }
  const isElsewhere = environment.record.kind === 'self_hosted'
  checkAgent(agent, isElsewhere)
  if (isElsewhere) {
    checkInputs(kinds, wanted, refusals.workerInputs)
    checkToolsForWorker(agent)
  } else checkEnvironment(environment.record, refusals)
  const vaultIds = input.vault_ids ?? []
  for (const [index, vault] of vaultIds.entries()) {
    await vaultStore(tx).hold(tenant, vault, `vault_ids.${index}`)
    if (isElsewhere) await checkVaultForWorker(tx, tenant, vault, `vault_ids.${index}`)
  }
  const at = iso(now)
  const row: SessionRow = {
    tenant_id: tenant,
    id,
    agent_id: agent.id,
    agent_version: agent.version,
    agent: recordText('agent', agent),
    environment_id: environmentId,
    self_hosted: isElsewhere ? 1 : 0,
    title: input.title ?? null,
    metadata: toJson(input.metadata ?? {}),
    vault_ids: toJson(vaultIds),
    sealed_tokens: tokens ? sealTokens(seal, { tenant, id }, tokens) : null,
    files_revision: 0,
    archived_at: null,
    deleted_at: null,
    created_at: at,
    updated_at: at,
  }
  const first = await firstOf({ tx, tenant, now }, input, texts)
  const isPending = first.length === 0
  const status = isPending ? 'pending' : 'running'
  const of = { ...serversOfHead(agent), budget: budgetUnits(input.budget) }
  const head = await sessionStore(tx).insert(row, status, of)
  const pending = isPending ? (['session.pending'] as const) : []
  await outbox(tx).put(tenant, ['session.created', ...pending], { id }, now)
  const resources = await attachResources(tx, kinds, { tenant, session: id, now }, wanted)
  const queue = await enqueueSession(tx, row, now)
  if (first.length > 0) await admit(tx, tenant, row.id, first, { now, due: true })
  return { session: showSession(row, head, { now, resources }), queue }
}

/** The agent's own memory store comes last. */
function requestsOf({ resources }: SessionCreate, agent: SessionAgent): ResourceRequest[] {
  const named = (resources ?? []).map((resource, index) => ({
    resource,
    at: `resources.${index}.`,
  }))
  return [...named, ...storesOfAgent(agent, named)]
}

async function firstOf(
  deps: { tx: Queries; tenant: string; now: number },
  input: SessionCreate,
  texts?: LongTexts,
) {
  const events = input.initial_events ?? []
  for (const [index, { content }] of events.entries())
    await checkShown(deps, content, `initial_events.${index}`)
  return events.map((event) => {
    const text = texts?.get(event)
    return admission({ ...event, id: text?.id ?? newId('event') }, text)
  })
}

/**
 * Refuses a speed that the model's provider does not offer. Runs before the transaction, because it may read a catalog. When the model card
 * changes in between, the turn reports the error.
 */
export async function checkSpeed(
  read: Reads,
  resolveModel: ResolveModel,
  tenant: string,
  choice: SessionCreate['agent'],
): Promise<void> {
  const { agent } = await chooseAgent(read, tenant, choice)
  const { model } = agent
  if (typeof model === 'string' || model.speed !== 'fast') return
  const [plain, fast] = [
    await resolveModel(tenant, { ...model, speed: 'standard' }),
    await resolveModel(tenant, model),
  ]
  if (plain.ok && !fast.ok) throw invalid(`agent.model.speed: ${fast.message}`)
}

/** Refuses a budget for a model without a price. Runs before the transaction, as `checkSpeed` does. [sessions/budget/priced] */
export async function checkBudget(
  read: Reads,
  resolveModel: ResolveModel,
  tenant: string,
  { agent: choice, budget }: Pick<SessionCreate, 'agent' | 'budget'>,
): Promise<void> {
  if (!budget) return
  const { agent } = await chooseAgent(read, tenant, choice)
  const resolved = await resolveModel(tenant, agent.model)
  if (resolved.ok && resolved.price) return
  const name = typeof agent.model === 'string' ? agent.model : agent.model.id
  const why = resolved.ok
    ? `model ${name} has no price: set native_config.cost of its model card`
    : resolved.message
  throw invalid(`budget: ${why}`, 'model_not_budgetable')
}

/** The requested agent version, or the newest, with this session's overrides and their tokens. */
async function chooseAgent(
  db: Reads,
  tenant: string,
  choice: SessionCreate['agent'],
): Promise<{ agent: SessionAgent; tokens: Tokens | undefined }> {
  const agents = agentStore(db)
  const { id, version } = typeof choice === 'string' ? { id: choice, version: undefined } : choice
  const found =
    version === undefined ? await agents.get(tenant, id) : await agents.version(tenant, id, version)
  if (found.archived) throw invalid(`agent ${id} is archived and takes no new sessions`)
  const agent = snapshot(found)
  if (typeof choice === 'string' || choice.type === 'agent') return { agent, tokens: undefined }
  const { type: _type, id: _id, version: _version, ...overrides } = choice
  return override(agent, overrides)
}

/** Each override replaces its whole field. Null and [] clear the field. */
export function override(
  agent: SessionAgent,
  overrides: Omit<AgentUpdate, 'version'>,
): { agent: SessionAgent; tokens: Tokens | undefined } {
  const { config, tokens } = updateConfig(agent, overrides)
  const { model, system, tools, mcp_servers, skills } = config
  return { agent: { ...agent, model, system, tools, mcp_servers, skills }, tokens }
}

/** Seals the inline tokens of this session. */
export const sealTokens = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  tokens: Tokens,
): Json<SealedTokens> =>
  toJson(
    Object.fromEntries(
      Object.entries(tokens).map(([server, token]) => [
        server,
        seal.seal(token, tokenPlace(tenant, id, server)),
      ]),
    ),
  )

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
