import {
  DeploymentCreate,
  DeploymentListQuery,
  DeploymentRunListQuery,
  DeploymentRunShown,
  DeploymentShown,
  DeploymentUpdate,
} from '@steward/protocol/deployments.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import {
  DeploymentTriggerQuery,
  DeploymentTriggerSecret,
} from '@steward/protocol/deployment-triggers.ts'
import { invalid } from '../../ground/core/errors.ts'
import { timeComparisons } from '../../ground/database/page-order.ts'
import { recordBody } from '../../ground/http/limits.ts'
import { emptyReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { runNow } from './run-deployment.ts'
import { deploymentStore, showDeployment } from './store.ts'
import { deleteTriggerSecret, rotateTriggerSecret } from './trigger-secrets.ts'
import { triggerDeployment } from './trigger.ts'
import {
  archiveDeployment,
  createDeployment,
  pauseDeployment,
  unpauseDeployment,
  updateDeployment,
} from './write.ts'
import { rows } from '../../ground/database/rows.ts'

const deployments = section('Deployments', ['workspace'], '/v1/deployments')
const secrets = section('Deployments', ['workspace'], '/v1/ext/deployments/:id/trigger_secret')
const triggers = section('Deployments', ['anyone'], '/v1/ext/deployments/:id/trigger')
const runs = section('Deployments', ['workspace'], '/v1/deployment_runs')
const answer = DeploymentShown

/** Limits of a signed request, because an agent reads the whole body. */
const triggerBody = { bytes: 256 * 1024, values: 20_000 }

type DeploymentRouteDeps = OpenSessionDeps & {
  /** Base URL of trigger URLs; left out: the host of the caller's request. */
  publicUrl: string | undefined
}

function triggerRoutes(deps: DeploymentRouteDeps): Route[] {
  const signed = triggers.raw.post(
    '',
    {
      summary: 'Trigger a deployment by a signed request',
      description:
        'Signed with the secret of the trigger, as Standard Webhooks has it; no key is sent. The body is given to the agent as data. A repeated `webhook-id` answers the run that it has.',
      bytes: {
        type: '*/*',
        description: 'Any text of at most 256 KiB in UTF-8: the agent is given it as data.',
      },
      limits: triggerBody,
      isSigned: true,
      answer: DeploymentRunShown,
    },
    async ({ params: { id }, search, header, address }, { text }) => {
      const workspace = new URLSearchParams(search).get('workspace') ?? ''
      const body = await text()
      return triggerDeployment(deps, { workspace, id, header, body, address })
    },
  )
  return [
    secrets.post(
      '',
      {
        summary: 'Create or rotate the secret of a trigger',
        description: 'No later answer contains it. The old secret is valid beside it for a day.',
        answer: DeploymentTriggerSecret,
      },
      async ({ db, tenant, params: { id }, origin }) => ({
        type: 'deployment_trigger_secret',
        deployment_id: id,
        url: `${deps.publicUrl ?? origin}/v1/ext/deployments/${id}/trigger?workspace=${tenant}`,
        ...(await rotateTriggerSecret(deps, { db, tenant }, id)),
      }),
    ),
    secrets.delete(
      '',
      {
        summary: 'Delete the secret of a trigger',
        description: 'Signed requests run the deployment no more.',
        answer: 'none',
        status: 204,
      },
      async ({ db, tenant, params: { id } }) => {
        await deleteTriggerSecret({ db, tenant }, id)
        return emptyReply(204)
      },
    ),
    { ...signed, query: DeploymentTriggerQuery },
  ]
}

export function deploymentRoutes(deps: DeploymentRouteDeps): Route[] {
  const { clock } = deps
  return [
    ...deployments.plain(
      { one: 'a deployment', many: 'deployments', item: '/:id', answer },
      {
        create: {
          description:
            'Runs on its schedule, or by hand where it has none. What no session could be created from is refused now.',
          body: DeploymentCreate,
          limits: recordBody,
          run: ({ db, tenant, body }) => createDeployment(deps, { db, tenant }, body),
        },
        list: {
          query: DeploymentListQuery,
          scope: 'deployments',
          async check({ query }) {
            if (query.status && query.include_archived)
              throw invalid('status: does not go with include_archived')
          },
          async rows({ db, tenant, query }, page) {
            const found = await deploymentStore(db.read).list(tenant, page, {
              archived: query.include_archived ?? false,
              made: timeComparisons(query),
              agentId: query.agent_id,
              status: query.status,
            })
            const now = clock.now()
            const shown = await Promise.all(found.rows.map((row) => showDeployment(row, now)))
            return { rows: shown, more: found.more }
          },
        },
        get: {
          async run({ db, tenant, params }) {
            const row = await rows(db.read, 'deployments').get(tenant, params.id)
            return showDeployment(row, clock.now())
          },
        },
        update: {
          description:
            'Changes the fields that are sent and keeps the others. The version of the agent changes only when `agent` is sent.',
          body: DeploymentUpdate,
          limits: recordBody,
          run: ({ db, tenant, params, body }) =>
            updateDeployment(deps, { db, tenant }, params.id, body),
        },
        archive: {
          description:
            'Ends the deployment for good: it has no times any more and is not run. Sessions that it has created continue.',
          run: ({ db, tenant, params }) => archiveDeployment(deps, { db, tenant }, params.id),
        },
      },
    ),
    deployments.post(
      '/:id/pause',
      {
        summary: 'Pause a deployment',
        description:
          'Its schedule stops, and signed requests are refused with 409. It still runs by hand.',
        answer,
      },
      (call) => pauseDeployment(deps, call, call.params.id),
    ),
    deployments.post(
      '/:id/unpause',
      {
        summary: 'Unpause a deployment',
        description: 'Its schedule starts again. Times that have passed are not made up for.',
        answer,
      },
      (call) => unpauseDeployment(deps, call, call.params.id),
    ),
    deployments.post(
      '/:id/run',
      {
        summary: 'Run a deployment now',
        description:
          'Creates a session, paused or not. A session that could not be created is a run with an error.',
        counted: 'sessions',
        answer: DeploymentRunShown,
      },
      (call) => runNow(deps, call, call.params.id),
    ),
    ...triggerRoutes(deps),
    ...runs.plain(
      {
        one: 'a run of a deployment',
        many: 'runs of deployments',
        item: '/:id',
        answer: DeploymentRunShown,
      },
      {
        list: {
          query: DeploymentRunListQuery,
          scope: 'deployment_runs',
          rows: ({ db, tenant, query }, page) =>
            deploymentStore(db.read).runs(tenant, page, {
              made: timeComparisons(query),
              deployment: query.deployment_id,
              hasError: query.has_error,
              trigger: query.trigger_type,
            }),
        },
        get: { run: ({ db, tenant, params }) => deploymentStore(db.read).run(tenant, params.id) },
      },
    ),
  ]
}
