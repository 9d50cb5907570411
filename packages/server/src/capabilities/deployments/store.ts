import { iso } from '@steward/base/time.ts'
import type {
  CronSchedule,
  Deployment,
  DeploymentRun,
  TriggerType,
} from '@steward/protocol/deployments.ts'
import { sql } from 'kysely'
import type { Listing, Paging } from '../../ground/core/text/page.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { Queries, Reads } from '../../ground/database/database.ts'
import { forUpdateSkippingLocked } from '../../ground/database/lock.ts'
import type { ListFilter, RowOf } from '../../ground/database/rows.ts'
import { isFree } from '../../ground/database/lease.ts'
import { rows } from '../../ground/database/rows.ts'
import type { TimeComparison } from '../../ground/database/page-order.ts'
import { defineStore } from '../../ground/database/store-of.ts'
import { timesAfter } from './times.ts'

export type DeploymentRow = RowOf<'deployments'>
/** `until`: the time at which the deployment is due again unless it has run. */
export type ClaimedDeployment = Pick<DeploymentRow, 'tenant_id' | 'id'> & { until: number }
export type DeploymentRunRow = RowOf<'deployment_runs'>

/** The context for which the token of a repository is sealed. `name`: index of the resource in the list. */
export const deploymentTokenContext = (tenant: string, id: string, name: string): string =>
  `${tenant}/deployments/${id}/sealed_tokens/${name}`

/** The context for which the secret of a trigger is sealed. `name`: `current` or `previous`. */
export const triggerSecretContext = (tenant: string, id: string, name: string): string =>
  `${tenant}/deployments/${id}/sealed_trigger_secrets/${name}`

/** Number of next times that a deployment shows. */
const shownTimes = 5

async function showSchedule(
  { type, expression, timezone, clock_changes }: CronSchedule,
  { last_run_at, archived_at }: DeploymentRow,
  now: number,
): Promise<NonNullable<Deployment['schedule']>> {
  const shown = { expression, timezone, ...(clock_changes && { clock_changes }) }
  const times = archived_at === null ? await timesAfter(shown, now, shownTimes) : []
  return { type, ...shown, last_run_at, upcoming_runs_at: times.map(iso) }
}

export async function showDeployment(row: DeploymentRow, now: number): Promise<Deployment> {
  const { schedule, paused_reason, spec } = row
  return {
    id: row.id,
    type: 'deployment',
    name: row.name,
    description: row.description,
    agent: { type: 'agent', id: row.agent_id, version: row.agent_version },
    environment_id: row.environment_id,
    initial_events: spec.initial_events,
    resources: spec.resources,
    vault_ids: spec.vault_ids,
    metadata: row.metadata,
    schedule: schedule?.type === 'cron' ? await showSchedule(schedule, row, now) : null,
    status: paused_reason === null ? 'active' : 'paused',
    paused_reason,
    budget: spec.budget,
    archived_at: row.archived_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

function triggerOf({
  scheduled_at,
  webhook_id,
}: DeploymentRunRow): DeploymentRun['trigger_context'] {
  if (webhook_id !== null) return { type: 'webhook', webhook_id }
  return scheduled_at === null ? { type: 'manual' } : { type: 'schedule', scheduled_at }
}

export const showRun = (row: DeploymentRunRow): DeploymentRun => ({
  id: row.id,
  type: 'deployment_run',
  deployment_id: row.deployment_id,
  agent: { type: 'agent', id: row.agent_id, version: row.agent_version },
  trigger_context: triggerOf(row),
  session_id: row.session_id,
  error: row.error,
  created_at: row.created_at,
})

type DeploymentFilter = ListFilter & {
  agentId?: string | undefined
  status?: 'active' | 'paused' | undefined
}
type RunFilter = {
  made: readonly TimeComparison[]
  deployment?: string | undefined
  hasError?: boolean | undefined
  trigger?: TriggerType | undefined
}

/** Quotes in texts are escaped, so a caller's text cannot match as a key. */
const postsTo = (session: string) =>
  sql<boolean>`spec like ${`%"session_id":${JSON.stringify(session)}%`}`

function deploymentReads(db: Reads) {
  return {
    list: (
      tenant: string,
      paging: Paging,
      { agentId, status, ...filter }: DeploymentFilter,
    ): Promise<Listing<DeploymentRow>> =>
      rows(db, 'deployments').list(tenant, paging, {
        ...filter,
        where(query) {
          const found = agentId === undefined ? query : query.where('agent_id', '=', agentId)
          if (!status) return found
          return found.where('paused_reason', status === 'active' ? 'is' : 'is not', null)
        },
      }),

    /** Unarchived deployments with a schedule. `session`: only deployments that post to the session of this id. */
    scheduled: (
      tenant: string,
      paging: Paging,
      session: string | undefined,
    ): Promise<Listing<DeploymentRow>> =>
      rows(db, 'deployments').list(tenant, paging, {
        archived: false,
        where(query) {
          const found = query.where('schedule', 'is not', null)
          return session === undefined ? found : found.where(postsTo(session))
        },
      }),

    /** Unarchived deployments with a schedule that post to the session. */
    ofSession: (tenant: string, session: string): Promise<DeploymentRow[]> =>
      rows(db, 'deployments').all(tenant, (query) =>
        query
          .where('schedule', 'is not', null)
          .where('archived_at', 'is', null)
          .where(postsTo(session))
          .orderBy('id'),
      ),

    run: async (tenant: string, id: string): Promise<DeploymentRun> =>
      showRun(await rows(db, 'deployment_runs').get(tenant, id)),

    /** The run of a signed delivery. */
    async runOfWebhook(
      tenant: string,
      deployment: string,
      webhook: string,
    ): Promise<DeploymentRun | undefined> {
      const [row] = await rows(db, 'deployment_runs').all(tenant, (query) =>
        query.where('deployment_id', '=', deployment).where('webhook_id', '=', webhook),
      )
      return row && showRun(row)
    },

    async runs(
      tenant: string,
      paging: Paging,
      { made, deployment, hasError, trigger }: RunFilter,
    ): Promise<Listing<DeploymentRun>> {
      const found = await rows(db, 'deployment_runs').list(tenant, paging, {
        made,
        where(query) {
          let all = query
          if (deployment !== undefined) all = all.where('deployment_id', '=', deployment)
          if (hasError !== undefined) all = all.where('error', hasError ? 'is not' : 'is', null)
          return trigger ? all.where('trigger_type', '=', trigger) : all
        },
      })
      return mapListing(found, showRun)
    },

    /** Across tenants: due times up to `by`, earliest first. */
    async dueTimes(by: number, limit: number): Promise<number[]> {
      const found = await db
        .selectFrom('deployments')
        .select('due_ms')
        .where('due_ms', '<=', by)
        .orderBy('due_ms')
        .limit(limit)
        .execute()
      return found.map(({ due_ms }) => Number(due_ms))
    },

    /** Deployments of which a time is to come, now or when somebody resumes them. */
    async countScheduled(tenant: string): Promise<number> {
      const { all } = await db
        .selectFrom('deployments')
        .select(sql<number>`count(*)`.as('all'))
        .where('tenant_id', '=', tenant)
        .where('schedule', 'is not', null)
        .where('archived_at', 'is', null)
        .where((eb) => eb.or([eb('next_ms', 'is not', null), eb('paused_reason', 'is not', null)]))
        .executeTakeFirstOrThrow()
      return Number(all)
    },

    /** Unarchived deployments of an agent. */
    ofAgent: (tenant: string, agent: string): Promise<DeploymentRow[]> =>
      rows(db, 'deployments').all(tenant, (query) =>
        query.where('agent_id', '=', agent).where('archived_at', 'is', null).orderBy('id'),
      ),
  }
}

function deploymentWrites(db: Queries) {
  return {
    /**
     * Across tenants: claims due deployments until the given time, except those that another process is claiming.
     * Claims only avoid duplicate work; the transaction of a run does not rely on them.
     */
    async claimDue(now: number, until: number, limit: number): Promise<ClaimedDeployment[]> {
      const claimed = await db
        .with(
          (cte) => cte('due').materialized(),
          (of) => {
            const due = of.selectFrom('deployments').where(isFree('deployments', now))
            const first = due.select(['tenant_id', 'id']).orderBy('due_ms').limit(limit)
            return forUpdateSkippingLocked(db, first)
          },
        )
        .updateTable('deployments')
        .from('due')
        .set({ due_ms: until })
        .whereRef('deployments.tenant_id', '=', 'due.tenant_id')
        .whereRef('deployments.id', '=', 'due.id')
        .returning(['deployments.tenant_id', 'deployments.id'])
        .execute()
      return claimed.map((each) => ({ ...each, until }))
    },
  }
}

/** Deployments and their runs. */
export const deploymentStore = defineStore(deploymentReads, deploymentWrites)
