/**
 * Runs a deployment by hand, by schedule or by a signed request. The run, its session and the step of the schedule are
 * one transaction: a time has one run and a run one session, whenever a process dies.
 */
import { iso } from '@steward/base/time.ts'
import { automationText } from '@steward/harness/automations.ts'
import type {
  DeploymentEvent,
  DeploymentRun,
  PausingError,
  RunError,
} from '@steward/protocol/deployments.ts'
import { pausingErrors } from '@steward/protocol/deployments.ts'
import { PlatformError, StorageError, conflict, invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Database, Queries, Reads, TenantRef } from '../../ground/database/database.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { findHead } from '../../sessions/log/head.ts'
import { postInUnits } from '../../sessions/events/post.ts'
import { openSession } from '../../sessions/open.ts'
import { auditActing } from '../../tenants/audit/acting.ts'
import { wakeThreadOf } from '../integrations/deliveries/threads.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { findRunErrorType } from './cause.ts'
import { buildSessionRequest } from './request.ts'
import type { ClaimedDeployment, DeploymentRow, DeploymentRunRow } from './store.ts'
import { deploymentStore, showRun } from './store.ts'
import { dueTime } from './times.ts'
import { archive, pauseLocked } from './write.ts'
import { rows } from '../../ground/database/rows.ts'

type RunCause = Pick<DeploymentRunRow, 'trigger_type' | 'scheduled_at' | 'webhook_id'>
const byHand: RunCause = { trigger_type: 'manual', scheduled_at: null, webhook_id: null }

const runRow = (
  { tenant_id, id, agent_id, agent_version }: DeploymentRow,
  cause: RunCause,
  now: number,
): Omit<DeploymentRunRow, 'session_id' | 'error'> => ({
  tenant_id,
  id: newId('deployment_run'),
  deployment_id: id,
  agent_id,
  agent_version,
  ...cause,
  created_at: iso(now),
})

/** The reason why no session was created. Rethrows failures of the database, which are temporary. */
async function failureOf(
  deps: OpenSessionDeps,
  { db }: TenantRef,
  row: DeploymentRow,
  error: unknown,
): Promise<RunError> {
  if (error instanceof StorageError) throw error
  if (error instanceof PlatformError)
    return { type: await findRunErrorType(deps, db.read, row, error), message: error.message }
  deps.log.error('a deployment could not create its session', { error, deployment_id: row.id })
  const message = "the session could not be created: the server's log has the reason"
  return { type: 'unknown_error', message }
}

/** Enqueues the webhooks of a run. A run by hand has none: its caller reads the response. */
const notifyOfRun = (
  tx: Queries,
  run: Pick<DeploymentRunRow, 'tenant_id' | 'id' | 'trigger_type'>,
  end: 'succeeded' | 'failed',
  now: number,
): Promise<void> | undefined =>
  run.trigger_type === 'manual'
    ? undefined
    : outbox(tx).put(
        run.tenant_id,
        ['deployment_run.started', `deployment_run.${end}`],
        { id: run.id },
        now,
      )

const pauses = (type: RunError['type']): type is PausingError =>
  pausingErrors.some((each) => each === type)

/** False once the session is archived or deleted, or has failed: it takes no message any more. */
async function isOpenSession(read: Reads, tenant: string, id: string): Promise<boolean> {
  const { status } = (await findHead(read, tenant, id)) ?? { status: 'deleted' }
  return status !== 'deleted' && status !== 'failed' && status !== 'done'
}

/**
 * Pauses a deployment whose run failed for a reason that a person must mend, and archives what an agent has made for a
 * session that takes no message any more. The caller has locked the row.
 */
async function pauseAfter(tx: Queries, row: DeploymentRow, { type }: RunError, now: number) {
  const isOpen = row.archived_at === null && row.paused_reason === null
  const { made_by, session_id } = row.spec
  if (isOpen && made_by && session_id !== undefined) {
    if (!(await isOpenSession(tx, row.tenant_id, session_id))) {
      await archive(tx, row, now)
      return
    }
  }
  if (isOpen && pauses(type)) await pauseLocked(tx, row, { type: 'error', error: { type } }, now)
}

const checkOpen = ({ id, archived_at }: DeploymentRow): void => {
  if (archived_at !== null) throw invalid(`deployment ${id} is archived and runs no more`)
}

type RunDelivery = {
  /** Runs first in the unit. */
  take: (tx: Queries) => Promise<void>
  /** Runs in the same unit, with the session. */
  keep: (tx: Queries, session: string) => Promise<void>
}

/** The deployment with what an agent wrote to itself in a frame, so that it is no word of the user. */
function framed(row: DeploymentRow): DeploymentRow {
  const { id, spec } = row
  if (!spec.made_by) return row
  const initial_events = spec.initial_events.map((event): DeploymentEvent =>
    event.type === 'user.message'
      ? {
          ...event,
          content: event.content.map((block) =>
            block.type === 'text' ? { ...block, text: automationText(id, block.text) } : block,
          ),
        }
      : event,
  )
  return { ...row, spec: { ...spec, initial_events } }
}

/** Creates a session, or posts to the one that the deployment names. */
async function deliverRun(
  deps: OpenSessionDeps,
  ref: TenantRef,
  row: DeploymentRow,
  { take, keep }: RunDelivery,
): Promise<void> {
  const { session_id: session } = row.spec
  const actor = { type: 'deployment', id: row.id, name: row.name } as const
  if (session === undefined) {
    let id = ''
    await openSession(
      { ...deps, actor, deploymentId: row.id },
      ref,
      buildSessionRequest(deps.seal, row),
      {
        async make(tx, made) {
          await take(tx)
          id = made.id
          return {}
        },
        finish: (tx) => keep(tx, id),
      },
    )
    return
  }
  const { db, tenant } = ref
  const target = { tenant, session, clock: deps.clock, steers: true }
  await postInUnits(db, target, row.spec.initial_events, async (tx) => {
    await take(tx)
    await keep(tx, session)
    const line = { thing: actor, action: 'session.post', session } as const
    await auditActing(tx, tenant, line, deps.clock.now())
    await wakeThreadOf(tx, { tenant, session }, deps.clock.now())
  })
}

/** A signed request of another system. `data`: the text that the agent reads first. */
export type SignedDelivery = { id: string; data: string }

/** The delivery already has a run. */
class RepeatedDeliveryError extends Error {
  readonly run: DeploymentRun

  constructor(run: DeploymentRun) {
    super(run.id)
    this.run = run
  }
}

/** Throws for a repeated delivery and for a paused deployment, which only a person runs. */
async function checkDelivery(
  read: Reads,
  { tenant_id, id, paused_reason }: DeploymentRow,
  delivery: SignedDelivery,
): Promise<void> {
  const run = await deploymentStore(read).runOfWebhook(tenant_id, id, delivery.id)
  if (run) throw new RepeatedDeliveryError(run)
  if (paused_reason !== null) throw conflict(`deployment ${id} is paused`)
}

function withData(row: DeploymentRow, data: string): DeploymentRow {
  const message: DeploymentEvent = { type: 'user.message', content: [{ type: 'text', text: data }] }
  return { ...row, spec: { ...row.spec, initial_events: [message, ...row.spec.initial_events] } }
}

/** Runs the deployment by hand. A missing resource fails the run, not the call. */
export const runNow = (deps: OpenSessionDeps, ref: TenantRef, id: string): Promise<DeploymentRun> =>
  runOnce(deps, ref, id)

/** Runs the deployment for a delivery. A repeated delivery changes nothing and returns the first run. */
export async function runForDelivery(
  deps: OpenSessionDeps,
  ref: TenantRef,
  id: string,
  delivery: SignedDelivery,
): Promise<DeploymentRun> {
  try {
    return await runOnce(deps, ref, id, delivery)
  } catch (error) {
    if (error instanceof RepeatedDeliveryError) return error.run
    throw error
  }
}

async function runOnce(
  deps: OpenSessionDeps,
  ref: TenantRef,
  id: string,
  delivery?: SignedDelivery,
): Promise<DeploymentRun> {
  const { db, tenant } = ref
  const now = deps.clock.now()
  async function check(read: Reads, row: DeploymentRow): Promise<DeploymentRow> {
    if (delivery) await checkDelivery(read, row, delivery)
    checkOpen(row)
    return row
  }
  const seen = await check(db.read, await rows(db.read, 'deployments').get(tenant, id))
  const cause: RunCause = delivery
    ? { trigger_type: 'webhook', scheduled_at: null, webhook_id: delivery.id }
    : byHand
  const run = runRow(seen, cause, now)
  try {
    let session_id = ''
    // Data of others come before the frame, and not into it.
    const asked = delivery ? withData(framed(seen), delivery.data) : framed(seen)
    await deliverRun(deps, ref, asked, {
      take: async (tx) =>
        void (await check(tx, await rows(tx, 'deployments').getForUpdate(tenant, id))),
      async keep(tx, session) {
        session_id = session
        await rows(tx, 'deployment_runs').insert({ ...run, session_id, error: null })
        await notifyOfRun(tx, run, 'succeeded', now)
      },
    })
    return showRun({ ...run, session_id, error: null })
  } catch (error) {
    if (error instanceof RepeatedDeliveryError) throw error
    const failure = await failureOf(deps, ref, seen, error)
    const failed = await db.write(async (tx) => {
      const row = await check(tx, await rows(tx, 'deployments').getForUpdate(tenant, id))
      await notifyOfRun(tx, run, 'failed', now)
      await pauseAfter(tx, row, failure, now)
      return rows(tx, 'deployment_runs').insert({ ...run, session_id: null, error: failure })
    })
    return showRun(failed)
  }
}

/** Another process ran the deployment meanwhile, or a caller changed it. */
class DeploymentOvertakenError extends Error {}

/** Runs a due deployment. Does nothing when the claim was lost. `isArchived`: the workspace is archived. */
export async function runDue(
  deps: OpenSessionDeps,
  db: Database,
  claimed: ClaimedDeployment,
  { isArchived }: { isArchived: boolean },
): Promise<void> {
  const { tenant_id: tenant, id, until } = claimed
  for (;;) {
    const seen = await rows(db.read, 'deployments').find(tenant, id)
    if (seen?.due_ms !== until) return
    try {
      await runSeen(deps, { db, tenant }, seen, { isArchived })
      return
    } catch (error) {
      if (!(error instanceof DeploymentOvertakenError)) throw error
    }
  }
}

async function runSeen(
  deps: OpenSessionDeps,
  ref: TenantRef,
  seen: DeploymentRow,
  { isArchived }: { isArchived: boolean },
): Promise<void> {
  const { db, tenant } = ref
  const now = deps.clock.now()
  const { id, schedule, next_ms } = seen
  if (!schedule || next_ms === null) throw new Error(`deployment ${id} is due without a schedule`)
  const { run: scheduledAt, next } = await dueTime(id, schedule, { next_ms }, now)
  const step = next ?? { next_ms: null, due_ms: null }
  /** Locks the row. Throws when it differs from the claimed row or its time has a run. A later claim loses in turn. */
  async function take(tx: Queries): Promise<DeploymentRow> {
    const row = await rows(tx, 'deployments').findForUpdate(tenant, id)
    const isSame = row?.next_ms === next_ms && row.updated_at === seen.updated_at
    if (!row || !isSame) throw new DeploymentOvertakenError(id)
    return row
  }
  if (scheduledAt === undefined) {
    await db.write(async (tx) => void (await rows(tx, 'deployments').update(await take(tx), step)))
    return
  }
  const at = iso(scheduledAt)
  const run = runRow(seen, { trigger_type: 'schedule', scheduled_at: at, webhook_id: null }, now)
  const fail = (failure: RunError): Promise<void> =>
    db.write(async (tx) => {
      const row = await take(tx)
      await rows(tx, 'deployment_runs').insert({ ...run, session_id: null, error: failure })
      const stepped = await rows(tx, 'deployments').update(row, { ...step, last_run_at: iso(now) })
      await notifyOfRun(tx, run, 'failed', now)
      await pauseAfter(tx, stepped, failure, now)
    })
  if (isArchived) {
    await fail({ type: 'workspace_archived_error', message: 'the workspace is archived' })
    return
  }
  try {
    let row: DeploymentRow | undefined
    await deliverRun(deps, ref, framed(seen), {
      async take(tx) {
        row = await take(tx)
      },
      async keep(tx, session_id) {
        if (!row) throw new Error(`deployment ${id} was not taken`)
        await rows(tx, 'deployment_runs').insert({ ...run, session_id, error: null })
        await rows(tx, 'deployments').update(row, { ...step, last_run_at: iso(now) })
        await notifyOfRun(tx, run, 'succeeded', now)
      },
    })
  } catch (error) {
    if (error instanceof DeploymentOvertakenError) throw error
    await fail(await failureOf(deps, ref, seen, error))
  }
}
