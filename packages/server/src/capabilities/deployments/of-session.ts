/**
 * The automations that an agent makes for its own session: deployments with a schedule that post to it. The change is
 * in the unit that stores the result of the agent's call. [tools/automations]
 */
import { iso } from '@steward/base/time.ts'
import type {
  AutomationEffect,
  AutomationLine,
  AutomationRequest,
} from '@steward/harness/automations.ts'
import { automationLimits as limits } from '@steward/protocol/automations.ts'
import type { DeploymentEvent, DeploymentSchedule } from '@steward/protocol/deployments.ts'
import { CronScheduleParams } from '@steward/protocol/deployments.ts'
import type { AutomationParts } from '../../sessions/automations.ts'
import type { SessionRef } from '../../ground/core/refs.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Queries } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'
import type { Ground } from '../../ground/ground.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { auditActing } from '../../tenants/audit/acting.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import type { DeploymentRow } from './store.ts'
import { deploymentStore } from './store.ts'
import { nextTime, timesAfter } from './times.ts'
import { notifySchedules } from './topics.ts'
import { archive, isOver, lockScheduled, mostScheduled, nothingDue } from './write.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const shortestMs = limits.minutes * minuteMs
/** Schedules that keep the shortest time have no more runs in a day, so that these times show a whole day. */
const timesOfDay = dayMs / shortestMs + 1

/** The same times on every day: two days that follow each other may lie far ahead. */
const onEveryDay = (expression: string): string =>
  [...expression.trim().split(/\s+/).slice(0, 2), '*', '*', '*'].join(' ')

/** The reason why an agent may not have the schedule. */
async function scheduleRefusal(
  schedule: DeploymentSchedule,
  now: number,
): Promise<string | undefined> {
  if (schedule.type === 'once') {
    const ahead = Date.parse(schedule.run_at) - now
    if (ahead < shortestMs)
      return `run_at: must be ${limits.minutes} minutes ahead at least; it is ${iso(now)} now`
    return ahead > limits.days * dayMs
      ? `run_at: may be ${limits.days} days ahead at most`
      : undefined
  }
  const { error } = CronScheduleParams.safeParse(schedule)
  const [issue] = error?.issues ?? []
  if (issue) return `${issue.path.join('.')}: ${issue.message}`
  const { expression, timezone } = schedule
  if ((await timesAfter(schedule, now, 1)).length === 0) return 'expression: matches no date'
  const daily = { expression: onEveryDay(expression), timezone }
  const times = await timesAfter(daily, now, timesOfDay)
  const isTooOften = times.some(
    (at, index) => index > 0 && at - (times[index - 1] ?? 0) < shortestMs,
  )
  return isTooOften
    ? `expression: two runs must lie ${limits.minutes} minutes apart at least`
    : undefined
}

const instructionsOf = ({ spec }: DeploymentRow): string =>
  spec.initial_events
    .flatMap((event) => (event.type === 'user.message' ? event.content : []))
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('\n')

const messageOf = (text: string): DeploymentEvent[] => [
  { type: 'user.message', content: [{ type: 'text', text }] },
]

const isOwn = ({ spec }: DeploymentRow, session: string): boolean =>
  spec.made_by?.session === session && spec.session_id === session

function lineOf(row: DeploymentRow, session: string): AutomationLine[] {
  const { id, name, schedule, paused_reason, next_ms } = row
  if (!schedule) return []
  const status = paused_reason !== null ? 'paused' : isOver(row) ? 'completed' : 'active'
  const when =
    schedule.type === 'once'
      ? { run_at: schedule.run_at }
      : { expression: schedule.expression, timezone: schedule.timezone }
  return [
    {
      id,
      name,
      instructions: instructionsOf(row),
      ...when,
      status,
      next_run_at: next_ms === null ? null : iso(next_ms),
      created_by: isOwn(row, session) ? 'you' : 'a developer',
    },
  ]
}

async function roomRefusal(tx: Queries, tenant: string): Promise<string | undefined> {
  await lockScheduled(tx, tenant)
  return (await deploymentStore(tx).countScheduled(tenant)) >= mostScheduled
    ? `the workspace has ${mostScheduled} deployments with a schedule, which is the most`
    : undefined
}

async function create(
  tx: Queries,
  { tenant, session }: SessionRef,
  { id, times, request }: AutomationEffect & { request: { action: 'create' } },
  now: number,
): Promise<string | undefined> {
  const there = await deploymentStore(tx).ofSession(tenant, session)
  if (there.filter((row) => isOwn(row, session)).length >= limits.perSession)
    return `you have ${limits.perSession} automations, which is the most: delete one, also one that has run`
  const refused = await roomRefusal(tx, tenant)
  if (refused !== undefined) return refused
  const { agent_id, agent_version, environment_id } = await sessionStore(tx).row(tenant, session)
  await rows(tx, 'deployments').insert({
    tenant_id: tenant,
    id,
    name: request.name,
    description: null,
    agent_id,
    agent_version,
    environment_id,
    spec: {
      initial_events: messageOf(request.instructions),
      resources: [],
      vault_ids: [],
      budget: null,
      session_id: session,
      made_by: { session, call: request.call },
    },
    sealed_tokens: null,
    sealed_trigger_secrets: null,
    previous_trigger_secret_until: null,
    metadata: {},
    schedule: request.schedule,
    paused_reason: null,
    last_run_at: null,
    ...(times ?? nothingDue),
    archived_at: null,
    created_at: iso(now),
    updated_at: iso(now),
  })
  notifySchedules(tx)
  await outbox(tx).put(tenant, ['deployment.created'], { id }, now)
  return undefined
}

async function change(
  tx: Queries,
  { tenant, session }: SessionRef,
  { id, times, request }: AutomationEffect & { request: { action: 'update' | 'delete' } },
  now: number,
): Promise<string | undefined> {
  const row = await rows(tx, 'deployments').findForUpdate(tenant, id)
  if (row?.archived_at !== null || row.spec.session_id !== session)
    return `there is no automation ${JSON.stringify(id)} of this session; list names those that there are`
  if (!isOwn(row, session)) return `${id} was made by a developer, who alone changes it: ask for it`
  if (request.action === 'delete') {
    await archive(tx, row, now)
    return undefined
  }
  const { name, instructions, schedule } = request
  if (schedule && isOver(row)) {
    const refused = await roomRefusal(tx, tenant)
    if (refused !== undefined) return refused
  }
  await rows(tx, 'deployments').update(row, {
    ...(name !== undefined && { name }),
    ...(instructions !== undefined && {
      spec: { ...row.spec, initial_events: messageOf(instructions) },
    }),
    // A paused automation stays paused: its schedule starts when somebody resumes it.
    ...(schedule && { schedule, ...(row.paused_reason === null ? times : nothingDue) }),
    updated_at: iso(now),
  })
  if (schedule) notifySchedules(tx)
  await outbox(tx).put(tenant, ['deployment.updated'], { id }, now)
  return undefined
}

const actions = {
  create: 'deployment.create',
  update: 'deployment.update',
  delete: 'deployment.archive',
} as const

const isCreation = (
  effect: AutomationEffect,
): effect is AutomationEffect & { request: { action: 'create' } } =>
  effect.request.action === 'create'

export function sessionAutomations({
  databases,
  clock,
}: Pick<Ground, 'databases' | 'clock'>): AutomationParts {
  async function prepare(
    tenant: string,
    request: AutomationRequest,
  ): Promise<AutomationEffect | string> {
    const id = request.action === 'create' ? newId('deployment') : request.id
    const schedule = request.action === 'delete' ? undefined : request.schedule
    if (!schedule) return { kind: 'automation', id, request }
    const now = clock.now()
    const refused = await scheduleRefusal(schedule, now)
    if (refused !== undefined) return refused
    const times = (await nextTime(id, schedule, now)) ?? nothingDue
    const { read } = await databases.open(tenant)
    const kept = request.action === 'update' && (await rows(read, 'deployments').find(tenant, id))
    const isPaused = kept && kept.paused_reason !== null
    return { kind: 'automation', id, request, times, ...(isPaused && { isPaused }) }
  }

  return {
    ofSession: ({ tenant, session }) => ({
      async list() {
        const { read } = await databases.open(tenant)
        const found = await deploymentStore(read).ofSession(tenant, session)
        return found.flatMap((row) => lineOf(row, session))
      },
      prepare: (request) => prepare(tenant, request),
    }),

    async apply(tx, ref, effect, now) {
      const { tenant, session } = ref
      const refused = isCreation(effect)
        ? await create(tx, ref, effect, now)
        : await change(tx, ref, effect as Parameters<typeof change>[2], now)
      if (refused !== undefined) return refused
      const thing = { type: 'session', id: session, name: null } as const
      const action = actions[effect.request.action]
      const resource = { type: 'deployment', id: effect.id }
      await auditActing(tx, tenant, { thing, action, session, resource }, now)
      return undefined
    },
  }
}
