/**
 * Runs a deployment: by hand, or because its time has come. The run, its session and the step of the schedule are
 * one transaction, so that a time has one run and a run one session whatever process dies when.
 */
import type { Log } from '@steward/base/log.ts'
import { iso } from '@steward/base/time.ts'
import type {
  DeploymentEvent,
  DeploymentRun,
  PausingError,
  RunError,
} from '@steward/protocol/deployments.ts'
import { pausingErrors } from '@steward/protocol/deployments.ts'
import { PlatformError, StorageError, conflict, invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/ids.ts'
import type { Database, Queries, Reads } from '../../ground/database/database.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { announcePosted, postInUnits } from '../../sessions/events/post.ts'
import { openSession } from '../../sessions/open.ts'
import { outbox } from '../../tenants/webhooks/outbox.ts'
import { causeOf } from './cause.ts'
import { requestOf } from './request.ts'
import type { ClaimedDeployment, DeploymentRow, DeploymentRunRow } from './store.ts'
import { deploymentStore, showRun } from './store.ts'
import { dueTime } from './times.ts'
import { pause } from './write.ts'

export type RunDeps = OpenSessionDeps & { log: Log }
type Place = { db: Database; tenant: string }

type Cause = Pick<DeploymentRunRow, 'trigger_type' | 'scheduled_at' | 'webhook_id'>
const byHand: Cause = { trigger_type: 'manual', scheduled_at: null, webhook_id: null }

const runRow = (
  { tenant_id, id, agent_id, agent_version }: DeploymentRow,
  cause: Cause,
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

/** Why no session was created. Throws what is nobody's mistake and passes by itself. */
async function failureOf(
  deps: RunDeps,
  { db }: Place,
  row: DeploymentRow,
  error: unknown,
): Promise<RunError> {
  if (error instanceof StorageError) throw error
  if (error instanceof PlatformError) {
    const { kinds, workerInputs, clock } = deps
    const given = { kinds, workerInputs, now: clock.now() }
    return { type: await causeOf(given, db.read, row, error), message: error.message }
  }
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

/** Pauses a deployment whose run failed for something that a person has to mend. The caller has taken its row. */
async function pauseAfter(tx: Queries, row: DeploymentRow, { type }: RunError, now: number) {
  const isOpen = row.archived_at === null && row.paused_reason === null
  if (isOpen && pauses(type)) await pause(tx, row, { type: 'error', error: { type } }, now)
}

const checkOpen = ({ id, archived_at }: DeploymentRow): void => {
  if (archived_at !== null) throw invalid(`deployment ${id} is archived and runs no more`)
}

type Delivery = {
  /** Runs first in the unit. */
  take: (tx: Queries) => Promise<void>
  /** Runs in the same unit, with the session. */
  keep: (tx: Queries, session: string) => Promise<void>
}

/** Creates a session, or posts to the one that the deployment names. */
async function deliver(
  deps: RunDeps,
  place: Place,
  row: DeploymentRow,
  { take, keep }: Delivery,
): Promise<void> {
  const { session_id: session, initial_events } = row.spec
  if (session === undefined) {
    let id = ''
    await openSession({ ...deps, deploymentId: row.id }, place, requestOf(deps.seal, row), {
      async make(tx, made) {
        await take(tx)
        id = made.id
        return {}
      },
      finish: (tx) => keep(tx, id),
    })
    return
  }
  const { db, tenant } = place
  const target = { tenant, session, clock: deps.clock }
  const posted = await postInUnits(db, target, initial_events, async (tx) => {
    await take(tx)
    await keep(tx, session)
  })
  announcePosted(deps.bus, tenant, session, posted)
}

/** A signed request that another system has sent. `data`: what the agent reads before anything else. */
export type SignedDelivery = { id: string; data: string }

/** The delivery has a run already. */
class RepeatedError extends Error {
  readonly run: DeploymentRun

  constructor(run: DeploymentRun) {
    super(run.id)
    this.run = run
  }
}

/** Pausing a deployment stops whatever runs it by itself. */
async function checkDelivery(
  read: Reads,
  { tenant_id, id, paused_reason }: DeploymentRow,
  delivery: SignedDelivery,
): Promise<void> {
  const run = await deploymentStore(read).runOfWebhook(tenant_id, id, delivery.id)
  if (run) throw new RepeatedError(run)
  if (paused_reason !== null) throw conflict(`deployment ${id} is paused`)
}

function withData(row: DeploymentRow, data: string): DeploymentRow {
  const message: DeploymentEvent = { type: 'user.message', content: [{ type: 'text', text: data }] }
  return { ...row, spec: { ...row.spec, initial_events: [message, ...row.spec.initial_events] } }
}

/** What is missing fails the run, not the call. */
export const runNow = (deps: RunDeps, place: Place, id: string): Promise<DeploymentRun> =>
  runOnce(deps, place, id)

/** A repeated delivery changes nothing, and has the run of the first. */
export async function runForDelivery(
  deps: RunDeps,
  place: Place,
  id: string,
  delivery: SignedDelivery,
): Promise<DeploymentRun> {
  try {
    return await runOnce(deps, place, id, delivery)
  } catch (error) {
    if (error instanceof RepeatedError) return error.run
    throw error
  }
}

async function runOnce(
  deps: RunDeps,
  place: Place,
  id: string,
  delivery?: SignedDelivery,
): Promise<DeploymentRun> {
  const { db, tenant } = place
  const now = deps.clock.now()
  async function check(read: Reads, row: DeploymentRow): Promise<DeploymentRow> {
    if (delivery) await checkDelivery(read, row, delivery)
    checkOpen(row)
    return row
  }
  const seen = await check(db.read, await deploymentStore(db.read).row(tenant, id))
  const cause: Cause = delivery
    ? { trigger_type: 'webhook', scheduled_at: null, webhook_id: delivery.id }
    : byHand
  const run = runRow(seen, cause, now)
  try {
    let session_id = ''
    await deliver(deps, place, delivery ? withData(seen, delivery.data) : seen, {
      take: async (tx) => void (await check(tx, await deploymentStore(tx).take(tenant, id))),
      async keep(tx, session) {
        session_id = session
        await deploymentStore(tx).insertRun({ ...run, session_id, error: null })
        await notifyOfRun(tx, run, 'succeeded', now)
      },
    })
    return showRun({ ...run, session_id, error: null })
  } catch (error) {
    if (error instanceof RepeatedError) throw error
    const failure = await failureOf(deps, place, seen, error)
    const failed = await db.write(async (tx) => {
      const row = await check(tx, await deploymentStore(tx).take(tenant, id))
      await notifyOfRun(tx, run, 'failed', now)
      await pauseAfter(tx, row, failure, now)
      return deploymentStore(tx).insertRun({ ...run, session_id: null, error: failure })
    })
    return showRun(failed)
  }
}

/** Another process has run the deployment meanwhile, or a caller has changed it. */
class OvertakenError extends Error {}

/** Runs a deployment whose time has come. Does nothing where the claim was lost. `isArchived`: its workspace is. */
export async function runDue(
  deps: RunDeps,
  db: Database,
  claimed: ClaimedDeployment,
  { isArchived }: { isArchived: boolean },
): Promise<void> {
  const { tenant_id: tenant, id, until } = claimed
  for (;;) {
    const seen = await deploymentStore(db.read).find(tenant, id)
    if (seen?.due_ms !== until) return
    try {
      await runSeen(deps, { db, tenant }, seen, { isArchived })
      return
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error
    }
  }
}

async function runSeen(
  deps: RunDeps,
  place: Place,
  seen: DeploymentRow,
  { isArchived }: { isArchived: boolean },
): Promise<void> {
  const { db, tenant } = place
  const now = deps.clock.now()
  const { id, schedule, next_ms } = seen
  if (!schedule || next_ms === null) throw new Error(`deployment ${id} is due without a schedule`)
  const { run: scheduledAt, next } = await dueTime(id, schedule, { next_ms }, now)
  const step = next ?? { next_ms: null, due_ms: null }
  /** The row, while its time has no run and it is as it was seen. Whoever has claimed it meanwhile is overtaken in turn. */
  async function take(tx: Queries): Promise<DeploymentRow> {
    const row = await deploymentStore(tx).takeIfAny(tenant, id)
    const isSame = row?.next_ms === next_ms && row.updated_at === seen.updated_at
    if (!row || !isSame) throw new OvertakenError(id)
    return row
  }
  if (scheduledAt === undefined) {
    await db.write(async (tx) => void (await deploymentStore(tx).update(await take(tx), step)))
    return
  }
  const at = iso(scheduledAt)
  const run = runRow(seen, { trigger_type: 'schedule', scheduled_at: at, webhook_id: null }, now)
  const fail = (failure: RunError): Promise<void> =>
    db.write(async (tx) => {
      const row = await take(tx)
      await deploymentStore(tx).insertRun({ ...run, session_id: null, error: failure })
      const stepped = await deploymentStore(tx).update(row, { ...step, last_run_at: iso(now) })
      await notifyOfRun(tx, run, 'failed', now)
      await pauseAfter(tx, stepped, failure, now)
    })
  if (isArchived) {
    await fail({ type: 'workspace_archived_error', message: 'the workspace is archived' })
    return
  }
  try {
    let row: DeploymentRow | undefined
    await deliver(deps, place, seen, {
      async take(tx) {
        row = await take(tx)
      },
      async keep(tx, session_id) {
        if (!row) throw new Error(`deployment ${id} was not taken`)
        await deploymentStore(tx).insertRun({ ...run, session_id, error: null })
        await deploymentStore(tx).update(row, { ...step, last_run_at: iso(now) })
        await notifyOfRun(tx, run, 'succeeded', now)
      },
    })
  } catch (error) {
    if (error instanceof OvertakenError) throw error
    await fail(await failureOf(deps, place, seen, error))
  }
}
