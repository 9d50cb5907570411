/** Converts automations of `/openai/v1` to deployments, and back. */
import type { Agent } from '@steward/protocol/agents.ts'
import type { EnvironmentMounts, EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { DeploymentSchedule } from '@steward/protocol/deployments.ts'
import type {
  OpenAIAutomation,
  OpenAIInvocation,
  OpenAITarget,
  OpenAITargetShown,
} from '@steward/protocol/openai/automations.ts'
import type { DeploymentRun } from '@steward/protocol/deployments.ts'
import { toUserMessages } from '@steward/protocol/openai/inputs.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import type { Queries, Reads, TenantRef } from '../../../ground/database/database.ts'
import { lockAdvisory } from '../../../ground/database/lock.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { DeploymentRow } from '../../../capabilities/deployments/store.ts'
import type { RequestMaker } from '../../../sessions/check-request.ts'
import type { DeploymentDraft } from '../../../capabilities/deployments/write.ts'
import { toEnvironmentRecord, updateRecord } from '../../../resources/environments/record.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { toolsFor } from '../agents/tools.ts'
import { findTemplate } from '../environments/find.ts'
import {
  checkMounts,
  checkSetup,
  toEnvironmentMounts,
  noMounts,
  skillRefs,
} from '../environments/mounts.ts'
import type { KeepFiles } from '../environments/inline-files.ts'
import { unnamedName } from '../environments/templates.ts'
import { unixSeconds } from '../page.ts'
import { isNone } from '@steward/protocol/openai/environments.ts'
import type { NamedEnvironment } from '../sessions/environment.ts'
import {
  toEnvironmentFields,
  isPlain,
  namedBy,
  noEnvironment,
  openaiOutputs,
} from '../sessions/environment.ts'
import { showInput } from '../turns/item.ts'

export type NewSessionTarget = Extract<OpenAITarget, { type: 'new_session' }>

export type TargetFields = Pick<
  DeploymentDraft,
  | 'agent'
  | 'environment_id'
  | 'maker'
  | 'initial_events'
  | 'resources'
  | 'vault_ids'
  | 'session_id'
  | 'overrides'
>

export const onceAt = (run_at: number): DeploymentSchedule => ({
  type: 'once',
  run_at: new Date(run_at * 1000).toISOString(),
})

/** The name of the one environment that all automations without a sandbox share. */
const noneName = 'no sandbox'

type ChosenEnvironment = {
  environment_id: string
  /** Creates the environment in the unit that keeps the automation. Returns its id. */
  create?: (tx: Queries, now: number) => Promise<string>
  mounts: EnvironmentMounts
}

const created = (
  tenant: string,
  record: EnvironmentRecord,
  mounts: EnvironmentMounts,
): ChosenEnvironment => ({
  environment_id: '',
  mounts,
  async create(tx, now) {
    await checkMounts(tx, tenant, mounts, (index) => `target.environment.files.${index}.path`)
    return (await environmentStore(tx).create(tenant, { ...record, mounts }, now)).id
  },
})

/**
 * The shared environment is found or created in the unit that keeps the automation: of several units at once, one
 * creates it.
 */
const withoutSandbox = (tenant: string): ChosenEnvironment => ({
  environment_id: '',
  mounts: noMounts,
  async create(tx, now) {
    await lockAdvisory(tx, `${tenant}/${noneName}`)
    const [kept] = await rows(tx, 'environments').all(tenant, (query) =>
      query.where('name', '=', noneName).where('archived_at', 'is', null),
    )
    if (kept && isNone(kept.record)) return kept.id
    const name = kept ? unnamedName() : noneName
    return (await environmentStore(tx).create(tenant, { ...noEnvironment, name }, now)).id
  },
})

/**
 * Chooses the environment of the sessions. A new environment becomes an environment of the workspace and is created
 * with the automation.
 */
async function environmentFor(ref: TenantRef, given: NamedEnvironment): Promise<ChosenEnvironment> {
  const { db, tenant } = ref
  if (given.type === 'none') return withoutSandbox(tenant)
  const named = namedBy(given)
  const isAsItIs = isPlain(given) && !given.files?.length && !given.skills?.length
  const kept = named === undefined ? undefined : await findTemplate(db.read, tenant, named)
  if (kept && isAsItIs) return { environment_id: kept.id, mounts: kept.record.mounts ?? noMounts }
  const fields = { name: unnamedName(), ...toEnvironmentFields(given) }
  const record = kept ? updateRecord(kept.record, fields) : toEnvironmentRecord(fields)
  const mounts = toEnvironmentMounts(given, kept?.record.mounts)
  checkSetup({ ...record, mounts }, 'target.environment.setup_commands')
  return created(tenant, record, mounts)
}

/** The agent of the target. `create`: creates an agent that is described, in the unit that keeps the automation. */
export type TargetAgent = Pick<Agent, 'tools' | 'skills'> &
  (
    | Pick<Agent, 'id' | 'version'>
    | {
        named: NonNullable<RequestMaker['agent']>
        create: (tx: Queries, now: number) => Promise<Agent>
      }
  )

/** `environment`: with files that have an id each. `keepFiles`: writes the rows of those that came with it. */
export type NewSessionGiven = Omit<NewSessionTarget, 'agent' | 'agent_id' | 'environment'> & {
  agent: TargetAgent
  environment: NamedEnvironment
  keepFiles?: KeepFiles
}

export async function toNewSession(
  ref: TenantRef,
  { agent, keepFiles, ...target }: NewSessionGiven,
): Promise<TargetFields> {
  const { mounts, environment_id, create } = await environmentFor(ref, target.environment)
  const made = 'create' in agent ? agent : undefined
  return {
    agent: 'create' in agent ? '' : { type: 'agent', id: agent.id, version: agent.version },
    environment_id,
    maker: {
      agent: made?.named,
      async make(tx, now) {
        await keepFiles?.(tx)
        const environment = await create?.(tx, now)
        const described = await made?.create(tx, now)
        return {
          ...(environment !== undefined && { environment_id: environment }),
          agent: described && { id: described.id, version: described.version },
        }
      },
    },
    initial_events: toUserMessages(target.input),
    resources: mounts.files.map(({ file_id, path }) => ({
      type: 'file',
      file_id,
      mount_path: path,
    })),
    vault_ids: [...new Set([...(target.vault_ids ?? []), ...(mounts.vault_ids ?? [])])],
    session_id: undefined,
    overrides: {
      tools: toolsFor(agent.tools, target.environment.type !== 'none'),
      skills: [...agent.skills, ...skillRefs(mounts.skills)],
      metadata: target.metadata ?? {},
      outputsPath: openaiOutputs,
    },
  }
}

export async function toExistingSession(
  { db, tenant }: TenantRef,
  target: Extract<OpenAITarget, { type: 'existing_session' }>,
  now: number,
): Promise<TargetFields> {
  const session = await sessionStore(db.read).get(tenant, target.session_id, now)
  if (session.archived_at !== null)
    throw invalid(`target.session_id: session ${session.id} is archived and takes nothing more`)
  return {
    agent: { type: 'agent', id: session.agent.id, version: session.agent.version },
    environment_id: session.environment_id,
    initial_events: [
      { type: 'user.message', content: [{ type: 'text', text: target.instructions }] },
    ],
    resources: [],
    vault_ids: [],
    session_id: session.id,
    overrides: undefined,
  }
}

/**
 * Finds an automation. This surface treats archived deployments as deleted, and cannot show a deployment without a
 * schedule.
 */
export async function findAutomation(
  read: Reads,
  tenant: string,
  id: string,
): Promise<DeploymentRow> {
  const row = await rows(read, 'deployments').get(tenant, id)
  if (row.archived_at !== null || row.schedule === null) throw notFound('automation', id)
  return row
}

async function showTarget(read: Reads, row: DeploymentRow): Promise<OpenAITargetShown> {
  const { session_id, initial_events, vault_ids, overrides } = row.spec
  const messages = initial_events.flatMap((event) =>
    event.type === 'user.message' ? [event.content.map(showInput)] : [],
  )
  if (session_id !== undefined) {
    const parts = messages.flat()
    const instructions = parts.map((part) => ('text' in part ? part.text : '')).join('')
    return { type: 'existing_session', session_id, instructions }
  }
  const environment = await rows(read, 'environments').find(row.tenant_id, row.environment_id)
  return {
    type: 'new_session',
    agent: null,
    agent_id: row.agent_id,
    environment:
      environment && isNone(environment.record)
        ? { type: 'none' }
        : { ...asItIs, environment_template_id: row.environment_id },
    input: messages.map((content) => ({ type: 'message', role: 'user', content })),
    metadata: overrides?.metadata ?? {},
    vault_ids,
  }
}

const asItIs = {
  type: 'openai_hosted',
  environment_id: null,
  capability_directories: null,
  container_size: null,
  desktop: null,
  files: null,
  network: null,
  packages: null,
  plugins: null,
  skills: null,
} as const

const showCreator = ({ spec: { made_by } }: DeploymentRow): OpenAIAutomation['created_by'] =>
  made_by
    ? { type: 'agent', session_id: made_by.session, tool_call_id: made_by.call }
    : { type: 'developer' }

export async function showAutomation(read: Reads, row: DeploymentRow): Promise<OpenAIAutomation> {
  const { id, name, metadata, schedule, paused_reason, next_ms } = row
  if (schedule === null) throw notFound('automation', id)
  const shown = {
    id,
    object: 'agent.automation' as const,
    name,
    metadata,
    created_by: showCreator(row),
    created_at: unixSeconds(row.created_at),
    target: await showTarget(read, row),
  }
  const status = paused_reason === null ? ('active' as const) : ('paused' as const)
  if (schedule.type === 'cron') {
    const { expression, timezone } = schedule
    return { ...shown, type: 'periodic', expression, timezone, status }
  }
  const isDone = paused_reason === null && next_ms === null
  const run_at = unixSeconds(schedule.run_at)
  return { ...shown, type: 'once', run_at, status: isDone ? 'completed' : status }
}

export const showInvocation = (
  { id, deployment_id, trigger_context, session_id, error, created_at }: DeploymentRun,
  automation: OpenAIAutomation,
): OpenAIInvocation => ({
  id,
  object: 'agent.automation.invocation',
  automation_id: deployment_id,
  status: error === null ? 'completed' : 'failed',
  session_id,
  scheduled_at:
    trigger_context.type === 'schedule' ? unixSeconds(trigger_context.scheduled_at) : null,
  error: error && { code: error.type, message: error.message },
  skip_reason: null,
  source:
    trigger_context.type === 'manual' ? { type: 'manual' } : { type: 'automation', automation },
  created_at: unixSeconds(created_at),
})
