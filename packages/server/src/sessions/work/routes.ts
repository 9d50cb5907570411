import {
  Heartbeat,
  HeartbeatQuery,
  Work,
  WorkListQuery,
  WorkPollQuery,
  WorkStats,
  WorkStop,
  WorkUpdate,
  WorkerShown,
} from '@steward/protocol/work.ts'
import { ListOf } from '@steward/protocol/primitives.ts'
import type { ClaimTokens } from '../../ground/core/security/claim-token.ts'
import { forbidden } from '../../ground/core/errors.ts'
import { wholePage } from '../../ground/core/text/page.ts'
import { mergeMetadata } from '../../ground/core/text/metadata.ts'
import type { Database } from '../../ground/database/database.ts'
import { environmentStore } from '../../resources/environments/store.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { jsonReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { routeAlias } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { WorkItem, Worker } from './item.ts'
import { reservationMs } from './item.ts'
import { createPoller } from './poll.ts'
import { workerName } from './presence.ts'
import type { WorkCaller, WorkSettings } from './queue.ts'
import { acknowledgeItem, beatItem, stopItem } from './queue.ts'
import { workStore } from './store.ts'
import { listWorkers } from './workers.ts'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'
import type { Ground } from '../../ground/ground.ts'

const workers = section('Workers', ['workspace'], '/v1/ext/environments/:id/workers')
const items = section('Workers', ['workspace', 'environment'], '/v1/environments/:id/work')

export const showWork = (item: WorkItem, secret: string | null = null): Work => ({
  id: item.id,
  type: 'work',
  environment_id: item.environment_id,
  state: item.state,
  data: { type: 'session', id: item.session_id },
  secret,
  metadata: fromJson(item.metadata),
  created_at: item.created_at,
  acknowledged_at: item.acknowledged_at,
  started_at: item.started_at,
  latest_heartbeat_at: item.latest_heartbeat_at,
  stop_requested_at: item.stop_requested_at,
  stopped_at: item.stopped_at,
})

/** An environment key opens the items of its environment, a workspace key all items, a claim token its own item. */
function checkOwn(principal: Principal, environment: string): void {
  if (principal.kind === 'environment' && principal.environmentId !== environment)
    throw forbidden('this key belongs to another environment')
}

const workerOf = (principal: Principal, name: string | undefined): Worker => ({
  key: ('keyId' in principal && principal.keyId) || '',
  id: workerName(name),
})

const byOf = (principal: Principal): WorkCaller =>
  principal.kind === 'claim' ? { generation: principal.generation } : 'key'

export function workRoutes(
  deps: Ground & {
    claimTokens: ClaimTokens
    work: WorkSettings
  },
): Route[] {
  const { clock, claimTokens, work: settings } = deps
  const poll = createPoller(deps)
  const secretOf = ({
    tenant_id,
    environment_id,
    session_id,
    id,
    generation,
  }: WorkItem): string => {
    const sessions_token = claimTokens.mint({
      tenant: tenant_id,
      environment: environment_id,
      session: session_id,
      work: id,
      generation,
    })
    return Buffer.from(JSON.stringify({ sessions_token })).toString('base64url')
  }
  /** Checks that the environment exists in this tenant. A foreign environment is not_found, not an empty result. */
  const open = async (
    { read }: Database,
    tenant: string,
    principal: Principal,
    environment: string,
  ) => {
    checkOwn(principal, environment)
    await environmentStore(read).record(tenant, environment)
    return read
  }

  const update = items.post(
    '/:work',
    {
      callers: ['workspace'],
      summary: 'Update the metadata of a work item',
      description: 'A string sets its key, null removes the key, and a key that is absent stays.',
      body: WorkUpdate,
      answer: Work,
    },
    async ({ db, tenant, params, body }) =>
      db.write(async (tx) => {
        const work = workStore(tx)
        const item = await work.getForUpdate(tenant, params.id, params.work)
        const before = fromJson(item.metadata)
        const metadata = toJson(mergeMetadata(before, body.metadata))
        await work.change(item, { metadata })
        return showWork({ ...item, metadata })
      }),
  )

  return [
    items.get(
      '/poll',
      {
        callers: ['environment'],
        counted: 'never',
        summary: 'Claim a work item',
        description: 'Null where none waits.',
        query: WorkPollQuery,
        answer: Work.nullable(),
      },
      async ({ tenant, principal, params: { id }, query, workerId, signal }) => {
        checkOwn(principal, id)
        const item = await poll(tenant, id, {
          blockMs: query.block_ms ?? 0,
          reclaimMs: query.reclaim_older_than_ms ?? reservationMs,
          worker: workerOf(principal, workerId),
          signal,
        })
        return jsonReply(200, item ? showWork(item, secretOf(item)) : null)
      },
    ),
    items.get(
      '/stats',
      { summary: 'Get statistics of the queue', answer: WorkStats },
      async ({ db, tenant, principal, params: { id } }) => {
        const read = await open(db, tenant, principal, id)
        return workStore(read).stats(tenant, id, clock.now())
      },
    ),
    workers.get(
      '',
      {
        summary: 'List the workers of an environment',
        description:
          'Those that have polled in the last minutes under a name of their own, and those that hold a claim.',
        answer: ListOf(WorkerShown),
      },
      async ({ db, tenant, principal, params: { id } }) => {
        const read = await open(db, tenant, principal, id)
        return wholePage(await listWorkers(read, tenant, id, clock.now()))
      },
    ),
    items.list(
      '',
      { summary: 'List work items', query: WorkListQuery, answer: Work },
      {
        scope: ({ id }) => `work/${id}`,
        check: ({ db, tenant, principal, params }) => open(db, tenant, principal, params.id),
        rows: ({ db, tenant, params }, page) => workStore(db.read).list(tenant, params.id, page),
        show: (item) => showWork(item),
      },
    ),
    items.get(
      '/:work',
      { summary: 'Get a work item', answer: Work },
      async ({ db, tenant, principal, params }) => {
        checkOwn(principal, params.id)
        const { read } = db
        return showWork(await workStore(read).row(tenant, params.id, params.work))
      },
    ),
    update,
    routeAlias(update, { method: 'patch' }),
    items.post(
      '/:work/ack',
      {
        callers: ['environment'],
        counted: 'never',
        summary: 'Acknowledge a work item',
        description:
          'Only the worker that the item was handed to acknowledges it. Another worker of the same generation is answered with 409.',
        answer: Work,
      },
      async ({ db, tenant, principal, params, workerId }) => {
        checkOwn(principal, params.id)
        const ref = { tenant, environment: params.id, id: params.work }
        const by = workerOf(principal, workerId)
        return showWork(await acknowledgeItem(db, ref, by, clock.now()))
      },
    ),
    items.post(
      '/:work/heartbeat',
      {
        callers: ['environment', 'claim'],
        claim: 'work',
        counted: 'never',
        summary: 'Extend the lease of a work item',
        description: 'By compare-and-set of the last heartbeat.',
        query: HeartbeatQuery,
        answer: Heartbeat,
      },
      async ({ db, tenant, principal, params, query }) => {
        checkOwn(principal, params.id)
        const { expected_last_heartbeat: expected, desired_ttl_seconds: seconds } = query
        const ref = { tenant, environment: params.id, id: params.work }
        const how = {
          by: byOf(principal),
          expected,
          ...(seconds === undefined ? {} : { ttlMs: seconds * 1000 }),
        }
        const { idleMs } = settings
        return beatItem(db, ref, how, { now: clock.now(), idleMs })
      },
    ),
    items.post(
      '/:work/stop',
      {
        callers: ['workspace', 'environment', 'claim'],
        claim: 'work',
        counted: 'never',
        summary: 'Stop a work item',
        description:
          'Asks the worker to stop; its next heartbeat is told. With `force` the claim ends at once.',
        body: WorkStop,
        answer: Work,
      },
      async ({ db, tenant, principal, params, body }) => {
        checkOwn(principal, params.id)
        const ref = { tenant, environment: params.id, id: params.work }
        const how = { by: byOf(principal), force: body.force ?? false }
        return showWork(await db.write((tx) => stopItem(tx, ref, how, clock.now())))
      },
    ),
  ]
}
