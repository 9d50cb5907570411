import { Deleted, ListOf, ListQuery } from '@steward/protocol/primitives.ts'
import {
  WebhookDeliveryListQuery,
  WebhookDeliveryShown,
  WebhookEndpointCreate,
  WebhookEndpointShown,
  WebhookEndpointUpdate,
  WebhookEndpointWithSecret,
} from '@steward/protocol/webhooks.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { invalid } from '../../ground/core/errors.ts'
import { pageOf, paging } from '../../ground/core/page.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { also, route } from '../../ground/http/route.ts'
import { deliveryStore } from './deliveries.ts'
import { ringWebhooks } from './dispatch.ts'
import { deliveryLog, showDelivery } from './log.ts'
import type { Row } from './outbox.ts'
import { outbox } from './outbox.ts'
import { newSecret } from './sign.ts'
import { endpointOf, endpointStore, sealedSecrets, secretsOf, showEndpoint } from './store.ts'
import { changedEndpoint } from './update.ts'

const callers = ['workspace'] as const
const section = 'Webhooks'
const answer = WebhookEndpointShown
const path = '/v1/ext/webhook_endpoints'
const one = `${path}/:id` as const

/** Of a workspace. */
const mostEndpoints = 20
/** How long the old secret of a rotation signs beside the new one. */
const overlapMs = 24 * 60 * 60 * 1000

type Deps = { bus: Bus; seal: Seal; clock: Clock }

export const webhookRoutes = (deps: Deps): Route[] => [
  ...readRoutes(deps),
  ...writeRoutes(deps),
  rotation(deps),
  ...deliveryRoutes(deps),
]

function readRoutes({ clock }: Deps): Route[] {
  return [
    route(
      {
        method: 'get',
        path,
        callers,
        section,
        summary: 'List endpoints, without their secrets',
        query: ListQuery,
        answer: ListOf(answer),
      },
      async ({ db, tenant, query }) => {
        const page = paging('webhook_endpoints', query)
        const rows = await endpointStore(db.read).list(tenant, page)
        return pageOf('webhook_endpoints', page, rows, (row) => showEndpoint(row, clock.now()))
      },
    ),
    route(
      { method: 'get', path: one, callers, section, summary: 'Get an endpoint', answer },
      async ({ db, tenant, params }) =>
        showEndpoint(await endpointStore(db.read).row(tenant, params.id), clock.now()),
    ),
  ]
}

function writeRoutes({ seal, clock }: Deps): Route[] {
  const update = route(
    {
      method: 'post',
      path: one,
      callers,
      section,
      summary: 'Update an endpoint',
      description: 'Also enables or disables it.',
      body: WebhookEndpointUpdate,
      answer,
    },
    async ({ db, tenant, params: { id }, body }) =>
      db.write(async (tx) => {
        const now = clock.now()
        const kept = await endpointStore(tx).take(tenant, id)
        const changed = changedEndpoint(kept, body, now)
        if (changed.disabled_at !== null) await deliveryStore(tx).drop(id, now)
        await endpointStore(tx).update(tenant, id, changed)
        return showEndpoint(changed, now)
      }),
  )
  return [
    route(
      {
        method: 'post',
        path,
        callers,
        section,
        summary: 'Create an endpoint',
        description: 'No later answer contains its secret.',
        body: WebhookEndpointCreate,
        answer: WebhookEndpointWithSecret,
      },
      async ({ db, tenant, body }) => {
        const secret = newSecret()
        const row = endpointOf(tenant, body, { seal, secret, now: clock.now() })
        await db.write(async (tx) => {
          if ((await endpointStore(tx).count(tenant)) >= mostEndpoints)
            throw invalid(`a workspace has at most ${mostEndpoints} webhook endpoints`)
          await endpointStore(tx).insert(row)
        })
        return { ...showEndpoint(row, clock.now()), secret }
      },
    ),
    update,
    also(update, { method: 'patch' }),
    route(
      {
        method: 'delete',
        path: one,
        callers,
        section,
        summary: 'Delete an endpoint',
        description: 'Deliveries that wait are not sent.',
        answer: Deleted('webhook_endpoint_deleted'),
      },
      async ({ db, tenant, params: { id } }) => {
        await db.write(async (tx) => {
          await endpointStore(tx).take(tenant, id)
          await endpointStore(tx).remove(tenant, id)
          await deliveryStore(tx).drop(id, clock.now())
        })
        return { id, type: 'webhook_endpoint_deleted' }
      },
    ),
  ]
}

const rotation = ({ seal, clock }: Deps): Route =>
  route(
    {
      method: 'post',
      path: `${one}/rotate_secret`,
      callers,
      section,
      summary: 'Rotate the secret of an endpoint',
      description: 'The old secret signs beside the new one for a day.',
      answer: WebhookEndpointWithSecret,
    },
    async ({ db, tenant, params: { id } }) => {
      const secret = newSecret()
      return db.write(async (tx) => {
        const now = clock.now()
        const kept = await endpointStore(tx).take(tenant, id)
        const [previous = ''] = secretsOf(seal, kept, now)
        const changed = {
          ...kept,
          sealed_secrets: sealedSecrets(seal, { tenant, id }, { current: secret, previous }),
          previous_until: iso(now + overlapMs),
          updated_at: iso(now),
        }
        await endpointStore(tx).update(tenant, id, changed)
        return { ...showEndpoint(changed, now), secret }
      })
    },
  )

function deliveryRoutes({ bus, clock }: Deps): Route[] {
  const deliveries = `${one}/deliveries` as const
  const shown = WebhookDeliveryShown

  /** Puts one delivery to an endpoint that takes any, and rings for it. */
  async function putting(
    db: Database,
    tenant: string,
    id: string,
    unit: (tx: Queries) => Promise<Row>,
  ) {
    const row = await db.write(async (tx) => {
      const endpoint = await endpointStore(tx).take(tenant, id)
      if (endpoint.disabled_at === null) return unit(tx)
      throw invalid(`webhook endpoint ${id} is disabled: set its status to enabled first`)
    })
    ringWebhooks(bus)
    return showDelivery(row)
  }

  return [
    route(
      {
        method: 'post',
        path: `${one}/test`,
        callers,
        section,
        summary: 'Send a test event to an endpoint',
        description: 'Answers its delivery.',
        answer: shown,
      },
      ({ db, tenant, params: { id } }) =>
        putting(db, tenant, id, (tx) => outbox(tx).test(tenant, id, clock.now())),
    ),
    route(
      {
        method: 'get',
        path: deliveries,
        callers,
        section,
        summary: 'List the deliveries to an endpoint',
        query: WebhookDeliveryListQuery,
        answer: ListOf(shown),
      },
      async ({ db, tenant, params: { id }, query }) => {
        const { read } = db
        await endpointStore(read).row(tenant, id)
        const scope = `webhook_deliveries/${id}`
        const page = paging(scope, query)
        const asked = { paging: page, state: query.status }
        const rows = await deliveryLog(read).list(tenant, id, asked)
        return pageOf(scope, page, rows, showDelivery)
      },
    ),
    route(
      {
        method: 'get',
        path: `${deliveries}/:delivery`,
        callers,
        section,
        summary: 'Get a delivery',
        answer: shown,
      },
      async ({ db, tenant, params: { id, delivery } }) => {
        const { read } = db
        await endpointStore(read).row(tenant, id)
        return showDelivery(await deliveryLog(read).row(tenant, id, delivery))
      },
    ),
    route(
      {
        method: 'post',
        path: `${deliveries}/:delivery/redeliver`,
        callers,
        section,
        summary: 'Send the event of a delivery once more',
        description: 'As a delivery of its own.',
        answer: shown,
      },
      ({ db, tenant, params: { id, delivery } }) =>
        putting(db, tenant, id, async (tx) => {
          const row = await deliveryLog(tx).row(tenant, id, delivery)
          return outbox(tx).again(row, clock.now())
        }),
    ),
  ]
}
