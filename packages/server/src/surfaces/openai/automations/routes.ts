import {
  OpenAIAutomationCreate,
  OpenAIAutomationListQuery,
  OpenAIAutomationShown,
  OpenAIAutomationUpdate,
  OpenAIInvocationShown,
} from '@steward/protocol/openai/automations.ts'
import { AfterQuery, OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { DeploymentSchedule } from '@steward/protocol/deployments.ts'
import { invalid, notFound } from '../../../ground/core/errors.ts'
import type { TenantRef } from '../../../ground/database/database.ts'
import { contentBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import { runNow } from '../../../capabilities/deployments/run-deployment.ts'
import type { DeploymentRow } from '../../../capabilities/deployments/store.ts'
import { deploymentStore } from '../../../capabilities/deployments/store.ts'
import {
  archiveDeployment,
  createDeployment,
  pauseDeployment,
  unpauseDeployment,
  updateDeployment,
} from '../../../capabilities/deployments/write.ts'
import { replacementPatch } from '../agents/agent.ts'
import type { FileDeps } from '../environments/inline-files.ts'
import { openaiList, resolvePaging } from '../page.ts'
import { findAutomation, onceAt, showAutomation, showInvocation } from './automation.ts'
import type { TargetFields } from './automation.ts'
import { withTarget } from './target.ts'
import { rows } from '../../../ground/database/rows.ts'

const automations = section('The OpenAI surface', ['workspace'], '/openai/v1/agents/automations')
const answer = OpenAIAutomationShown

/** Refuses fields of one type for an automation of the other type. */
function changedSchedule(
  { schedule }: DeploymentRow,
  { expression, timezone, run_at }: OpenAIAutomationUpdate,
): DeploymentSchedule | undefined {
  if (schedule?.type === 'once') {
    if (expression !== undefined) throw invalid('expression: an automation of type once has run_at')
    if (timezone !== undefined) throw invalid('timezone: an automation of type once has run_at')
    return run_at === undefined ? undefined : onceAt(run_at)
  }
  if (run_at !== undefined)
    throw invalid('run_at: an automation of type periodic has an expression')
  if (!schedule || (expression === undefined && timezone === undefined)) return undefined
  return {
    ...schedule,
    expression: expression ?? schedule.expression,
    timezone: timezone ?? schedule.timezone,
  }
}

export function automationRoutes(deps: FileDeps): Route[] {
  const { clock } = deps

  function checkAhead(schedule: DeploymentSchedule | undefined): void {
    if (schedule?.type === 'once' && Date.parse(schedule.run_at) <= clock.now())
      throw invalid('run_at: lies in the past')
  }

  const shown = async ({ db, tenant }: TenantRef, id: string) =>
    showAutomation(db.read, await findAutomation(db.read, tenant, id))

  const found = ({ db, tenant, params: { id } }: TenantRef & { params: { id: string } }) =>
    findAutomation(db.read, tenant, id)

  return [
    automations.post(
      '',
      {
        summary: 'Create an automation',
        description: 'It is a deployment with a schedule.',
        body: OpenAIAutomationCreate,
        limits: contentBody,
        answer,
      },
      async ({ db, tenant, body }) => {
        const schedule: DeploymentSchedule =
          body.type === 'once'
            ? onceAt(body.run_at)
            : { type: 'cron', expression: body.expression, timezone: body.timezone }
        checkAhead(schedule)
        const { name, metadata = {} } = body
        const ref = { db, tenant }
        const { id } = await withTarget(deps, ref, body.target, (fields) =>
          createDeployment(deps, ref, { name, metadata, schedule, ...fields }),
        )
        return shown({ db, tenant }, id)
      },
    ),
    automations.get(
      '',
      {
        summary: 'List automations',
        query: OpenAIAutomationListQuery,
        answer: OpenAIListOf(answer),
      },
      async ({ db, tenant, query }) => {
        const store = deploymentStore(db.read)
        const page = await resolvePaging(query, (id) =>
          rows(db.read, 'deployments').get(tenant, id),
        )
        const { session_id } = query
        if (session_id !== undefined && !/^sesn_[0-9a-f]{1,64}$/.test(session_id))
          return openaiList([], false)
        const { rows: listed, more } = await store.scheduled(tenant, page, session_id)
        const data = await Promise.all(listed.map((row) => showAutomation(db.read, row)))
        return openaiList(data, more)
      },
    ),
    automations.get('/:id', { summary: 'Get an automation', answer }, async (call) =>
      showAutomation(call.db.read, await found(call)),
    ),
    automations.post(
      '/:id',
      {
        summary: 'Update an automation',
        description: 'Changes the fields that are sent and keeps the others.',
        body: OpenAIAutomationUpdate,
        limits: contentBody,
        answer,
      },
      async (call) => {
        const { db, tenant, body } = call
        const { id } = await found(call)
        const { name, metadata, target } = body
        const ref = { db, tenant }
        const change = (fields?: TargetFields) =>
          updateDeployment(deps, ref, id, async (row) => {
            const schedule = changedSchedule(row, body)
            checkAhead(schedule)
            return {
              ...(name !== undefined && { name }),
              ...(metadata && { metadata: replacementPatch(row.metadata, metadata) }),
              ...(schedule && { schedule }),
              ...fields,
            }
          })
        await (target ? withTarget(deps, ref, target, change) : change())
        return shown({ db, tenant }, id)
      },
    ),
    automations.delete(
      '/:id',
      {
        summary: 'Delete an automation',
        description: 'Archives the deployment: sessions that it has made continue.',
        answer: OpenAIDeleted('agent.automation.deleted'),
      },
      async (call) => {
        const { id } = await found(call)
        await archiveDeployment(deps, call, id)
        return { id, deleted: true, object: 'agent.automation.deleted' }
      },
    ),
    automations.post(
      '/:id/pause',
      {
        summary: 'Pause an automation',
        description: 'Its schedule stops. It still runs by hand.',
        answer,
      },
      async (call) => {
        const { id } = await found(call)
        await pauseDeployment(deps, call, id)
        return shown(call, id)
      },
    ),
    automations.post(
      '/:id/resume',
      {
        summary: 'Resume an automation',
        description: 'Its schedule starts again. Times that have passed are not made up for.',
        answer,
      },
      async (call) => {
        const { id } = await found(call)
        await unpauseDeployment(deps, call, id)
        return shown(call, id)
      },
    ),
    automations.post(
      '/:id/invocations',
      {
        summary: 'Run an automation now',
        description: 'Paused or not. Where nothing could be begun, the invocation has failed.',
        counted: 'sessions',
        answer: OpenAIInvocationShown,
      },
      async (call) => {
        const row = await found(call)
        const run = await runNow(deps, call, row.id)
        return showInvocation(run, await showAutomation(call.db.read, row))
      },
    ),
    automations.get(
      '/:id/invocations',
      {
        summary: 'List the invocations of an automation',
        query: AfterQuery,
        answer: OpenAIListOf(OpenAIInvocationShown),
      },
      async (call) => {
        const { db, tenant, query } = call
        const row = await found(call)
        const store = deploymentStore(db.read)
        const page = await resolvePaging(query, (id) => store.run(tenant, id))
        const { rows: runs, more } = await store.runs(tenant, page, {
          made: [],
          deployment: row.id,
        })
        const automation = await showAutomation(db.read, row)
        return openaiList(
          runs.map((run) => showInvocation(run, automation)),
          more,
        )
      },
    ),
    automations.get(
      '/:id/invocations/:invocation_id',
      { summary: 'Get an invocation', answer: OpenAIInvocationShown },
      async ({ db, tenant, params: { id, invocation_id } }) => {
        const row = await findAutomation(db.read, tenant, id)
        const run = await deploymentStore(db.read).run(tenant, invocation_id)
        if (run.deployment_id !== id) throw notFound('invocation', invocation_id)
        return showInvocation(run, await showAutomation(db.read, row))
      },
    ),
  ]
}
