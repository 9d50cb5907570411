/** Creates, changes, pauses and archives deployments. */
import { iso } from '@steward/base/time.ts'
import type {
  Deployment,
  DeploymentCreate,
  DeploymentPausedReason,
  DeploymentSchedule,
  DeploymentSpec,
  DeploymentUpdate,
} from '@steward/protocol/deployments.ts'
import type { Ground } from '../../ground/ground.ts'
import { conflict, invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { mergeMetadata } from '../../ground/core/text/metadata.ts'
import { isSameJson } from '../../ground/core/text/same-json.ts'
import type { Queries, TenantRef } from '../../ground/database/database.ts'
import { lockAdvisory } from '../../ground/database/lock.ts'
import { agentStore } from '../../resources/agents/store.ts'
import type { RequestMaker } from '../../sessions/check-request.ts'
import { checkRequest } from '../../sessions/check-request.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { buildSessionRequest, sealTokens } from './request.ts'
import type { DeploymentRow } from './store.ts'
import { deploymentStore, showDeployment } from './store.ts'
import type { NextTime } from './times.ts'
import { nextTime } from './times.ts'
import { notifySchedules } from './topics.ts'
import { rows } from '../../ground/database/rows.ts'

/** Fields that only `/openai/v1` sets. */
type DeploymentExtras = {
  schedule?: DeploymentSchedule | null | undefined
  session_id?: string | undefined
  overrides?: DeploymentSpec['overrides']
  /** What it makes replaces `environment_id` and `agent`. */
  maker?: RequestMaker | undefined
}
export type DeploymentDraft = Omit<DeploymentCreate, 'schedule'> & DeploymentExtras
export type DeploymentChange = Omit<DeploymentUpdate, 'schedule'> & DeploymentExtras

/** Bound of scheduled deployments in a workspace. */
export const mostScheduled = 1_000

export const nothingDue = { next_ms: null, due_ms: null }

/** True after the one time of its schedule. */
export const isOver = ({
  schedule,
  paused_reason,
  next_ms,
}: Pick<DeploymentRow, 'schedule' | 'paused_reason' | 'next_ms'>): boolean =>
  schedule?.type === 'once' && paused_reason === null && next_ms === null

/** The agent of the deployment. It may be archived only for a deployment that posts to an existing session. */
async function agentOf(
  { db, tenant }: TenantRef,
  {
    agent: choice,
    session_id: session,
    maker,
  }: Pick<DeploymentDraft, 'agent' | 'session_id' | 'maker'>,
) {
  if (maker?.agent) return { agent_id: '', agent_version: 1 }
  const { id, version } = typeof choice === 'string' ? { id: choice, version: undefined } : choice
  const agents = agentStore(db.read)
  const found =
    version === undefined ? await agents.get(tenant, id) : await agents.version(tenant, id, version)
  if (found.archived && session === undefined)
    throw invalid(`agent: agent ${id} is archived and is not deployed`)
  return { agent_id: found.id, agent_version: found.version }
}

/** The first time of a schedule. Call it before the unit, because it may load the calendar library. */
async function firstTime(
  id: string,
  schedule: DeploymentSchedule | null,
  now: number,
): Promise<NextTime | typeof nothingDue> {
  if (!schedule) return nothingDue
  const next = await nextTime(id, schedule, now)
  if (!next && schedule.type === 'once') return nothingDue
  if (!next) throw invalid('schedule.expression: matches no date')
  return next
}

/** Holds others back that add a deployment with a schedule, so that a count stays true in the unit. */
export const lockScheduled = (tx: Queries, tenant: string): Promise<void> =>
  lockAdvisory(tx, `${tenant}/deployments`)

/** What is made in the unit, as columns of the deployment. */
async function madeColumns(
  tx: Queries,
  maker: RequestMaker | undefined,
  now: number,
): Promise<Partial<DeploymentRow>> {
  const { environment_id, agent } = (await maker?.make(tx, now)) ?? {}
  return {
    ...(environment_id !== undefined && { environment_id }),
    ...(agent && { agent_id: agent.id, agent_version: agent.version }),
  }
}

async function checkScheduled(tx: Queries, tenant: string): Promise<void> {
  await lockScheduled(tx, tenant)
  const there = await deploymentStore(tx).countScheduled(tenant)
  if (there >= mostScheduled)
    throw invalid(
      `schedule: a workspace has at most ${mostScheduled} deployments with a schedule; archive some, or clear their schedules`,
    )
}

export async function createDeployment(
  deps: OpenSessionDeps,
  ref: TenantRef,
  body: DeploymentDraft,
): Promise<Deployment> {
  const { tenant, db } = ref
  const id = newId('deployment')
  const { resources, sealed_tokens } = sealTokens(deps.seal, { tenant, id }, body.resources ?? [])
  const now = deps.clock.now()
  const schedule = body.schedule ?? null
  const row: DeploymentRow = {
    tenant_id: tenant,
    id,
    name: body.name,
    description: body.description || null,
    ...(await agentOf(ref, body)),
    environment_id: body.environment_id,
    spec: {
      initial_events: body.initial_events,
      resources,
      vault_ids: body.vault_ids ?? [],
      budget: body.budget ?? null,
      session_id: body.session_id,
      overrides: body.overrides,
    },
    sealed_tokens,
    sealed_trigger_secrets: null,
    previous_trigger_secret_until: null,
    metadata: body.metadata ?? {},
    schedule,
    paused_reason: null,
    last_run_at: null,
    ...(await firstTime(id, schedule, now)),
    archived_at: null,
    created_at: iso(now),
    updated_at: iso(now),
  }
  const { maker } = body
  if (row.spec.session_id === undefined)
    await checkRequest(deps, ref, buildSessionRequest(deps.seal, row), maker)
  const kept = await db.write(async (tx) => {
    if (schedule) await checkScheduled(tx, tenant)
    const made = await madeColumns(tx, maker, now)
    const inserted = await rows(tx, 'deployments').insert({ ...row, ...made })
    if (schedule) notifySchedules(tx)
    await outbox(tx).put(tenant, ['deployment.created'], { id }, now)
    return inserted
  })
  return showDeployment(kept, now)
}

const isArchived = (id: string) => invalid(`deployment ${id} is archived and cannot be changed`)

/** The columns that the body changes, except the schedule's. */
async function changedColumns(
  deps: OpenSessionDeps,
  ref: TenantRef,
  row: DeploymentRow,
  body: DeploymentChange,
): Promise<Partial<DeploymentRow>> {
  const { agent, environment_id, initial_events, resources, vault_ids, budget } = body
  const { spec, sealed_tokens } = row
  const replaced =
    resources === undefined
      ? { resources: spec.resources, sealed_tokens }
      : sealTokens(deps.seal, { tenant: row.tenant_id, id: row.id }, resources ?? [])
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.description !== undefined && { description: body.description || null }),
    ...(body.metadata && { metadata: mergeMetadata(row.metadata, body.metadata) }),
    ...(agent !== undefined && (await agentOf(ref, { ...body, agent }))),
    ...(environment_id !== undefined && { environment_id }),
    sealed_tokens: replaced.sealed_tokens,
    spec: {
      initial_events: initial_events ?? spec.initial_events,
      resources: replaced.resources,
      vault_ids: vault_ids === undefined ? spec.vault_ids : (vault_ids ?? []),
      budget: budget === undefined ? spec.budget : budget,
      ...(spec.made_by && { made_by: spec.made_by }),
      // Session and overrides belong to the agent that was named with them.
      ...(agent === undefined
        ? { session_id: spec.session_id, overrides: spec.overrides }
        : { session_id: body.session_id, overrides: body.overrides }),
    },
  }
}

/** Fields from which a session is created. */
const recipe = [
  'agent',
  'environment_id',
  'initial_events',
  'resources',
  'vault_ids',
  'budget',
] as const

/** `change` may depend on the deployment: a concurrent change refuses the update. */
export async function updateDeployment(
  deps: OpenSessionDeps,
  ref: TenantRef,
  id: string,
  change: DeploymentChange | ((row: DeploymentRow) => Promise<DeploymentChange>),
): Promise<Deployment> {
  const { db, tenant } = ref
  const row = await rows(db.read, 'deployments').get(tenant, id)
  if (row.archived_at !== null) throw isArchived(id)
  const body = typeof change === 'function' ? await change(row) : change
  const now = deps.clock.now()
  const columns = await changedColumns(deps, ref, row, body)
  const { maker } = body
  const createsSession = (columns.spec ?? row.spec).session_id === undefined
  if (createsSession && recipe.some((field) => body[field] !== undefined))
    await checkRequest(deps, ref, buildSessionRequest(deps.seal, { ...row, ...columns }), maker)
  const schedule = body.schedule === undefined ? row.schedule : body.schedule
  const isMoved = !isSameJson({ schedule }, { schedule: row.schedule })
  const first = await firstTime(id, schedule, now)
  const updated = await db.write(async (tx) => {
    const kept = await rows(tx, 'deployments').getForUpdate(tenant, id)
    if (kept.updated_at !== row.updated_at || kept.archived_at !== null) throw changedMeanwhile(id)
    if (isMoved && schedule && (!row.schedule || isOver(kept))) await checkScheduled(tx, tenant)
    const times = kept.paused_reason === null ? first : nothingDue
    const made = await madeColumns(tx, maker, now)
    await outbox(tx).put(tenant, ['deployment.updated'], { id }, now)
    if (schedule) notifySchedules(tx)
    return rows(tx, 'deployments').update(kept, {
      ...columns,
      ...made,
      ...(isMoved && { schedule, ...times }),
      updated_at: iso(now),
    })
  })
  return showDeployment(updated, now)
}

const changedMeanwhile = (id: string) =>
  conflict(`deployment ${id} was changed by another call meanwhile: read it, and send this again`)

/** Pauses an active deployment. The caller has locked the row. */
export async function pauseLocked(
  tx: Queries,
  row: DeploymentRow,
  paused_reason: DeploymentPausedReason,
  now: number,
): Promise<DeploymentRow> {
  const { tenant_id, id } = row
  await outbox(tx).put(tenant_id, ['deployment.paused'], { id }, now)
  const columns = { paused_reason, ...nothingDue, updated_at: iso(now) }
  return rows(tx, 'deployments').update(row, columns)
}

/** Runs a unit with the row locked. `change`: returns the row after the change. */
async function changeTaken(
  { clock }: Ground,
  { db, tenant }: TenantRef,
  id: string,
  change: (tx: Queries, kept: DeploymentRow, now: number) => Promise<DeploymentRow>,
): Promise<Deployment> {
  const now = clock.now()
  const row = await db.write(async (tx) =>
    change(tx, await rows(tx, 'deployments').getForUpdate(tenant, id), now),
  )
  return showDeployment(row, now)
}

/** A repeated call changes nothing. */
export const pauseDeployment = (deps: Ground, ref: TenantRef, id: string): Promise<Deployment> =>
  changeTaken(deps, ref, id, async (tx, kept, now) => {
    if (kept.archived_at !== null) throw isArchived(id)
    return kept.paused_reason === null ? pauseLocked(tx, kept, { type: 'manual' }, now) : kept
  })

/** Skips times that passed during the pause. A repeated call changes nothing. */
export async function unpauseDeployment(
  deps: Ground,
  ref: TenantRef,
  id: string,
): Promise<Deployment> {
  const { db, tenant } = ref
  const seen = await rows(db.read, 'deployments').get(tenant, id)
  const times = await firstTime(id, seen.schedule, deps.clock.now())
  return changeTaken(deps, ref, id, async (tx, kept, now) => {
    if (kept.archived_at !== null) throw isArchived(id)
    if (kept.paused_reason === null) return kept
    if (!isSameJson({ of: kept.schedule }, { of: seen.schedule })) throw changedMeanwhile(id)
    await outbox(tx).put(tenant, ['deployment.unpaused'], { id }, now)
    if (kept.schedule) notifySchedules(tx)
    const columns = { paused_reason: null, ...times, updated_at: iso(now) }
    return rows(tx, 'deployments').update(kept, columns)
  })
}

/** Archives a deployment. The caller has locked the row. */
export async function archive(
  tx: Queries,
  row: DeploymentRow,
  now: number,
): Promise<DeploymentRow> {
  const { tenant_id, id } = row
  await outbox(tx).put(tenant_id, ['deployment.archived'], { id }, now)
  const columns = { paused_reason: null, ...nothingDue, archived_at: iso(now) }
  return rows(tx, 'deployments').update(row, { ...columns, updated_at: iso(now) })
}

/** Archives a deployment for good. A repeated call changes nothing. */
export const archiveDeployment = (deps: Ground, ref: TenantRef, id: string): Promise<Deployment> =>
  changeTaken(deps, ref, id, async (tx, kept, now) =>
    kept.archived_at === null ? archive(tx, kept, now) : kept,
  )

/** Archives the deployments of an agent, in the unit that archives the agent. [deployments/agent-archived] */
export async function archiveAgentDeployments(
  tx: Queries,
  tenant: string,
  agent: string,
  now: number,
): Promise<void> {
  for (const { id } of await deploymentStore(tx).ofAgent(tenant, agent)) {
    const row = await rows(tx, 'deployments').getForUpdate(tenant, id)
    if (row.archived_at === null) await archive(tx, row, now)
  }
}
