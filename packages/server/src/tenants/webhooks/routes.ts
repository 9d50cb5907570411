import { ListQuery } from '@steward/protocol/primitives.ts'
import {
  WebhookDeliveryListQuery,
  WebhookDeliveryShown,
  WebhookEndpointCreate,
  WebhookEndpointShown,
  WebhookEndpointUpdate,
  WebhookEndpointWithSecret,
} from '@steward/protocol/webhooks.ts'
import type { Ground } from '../../ground/ground.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { notifyWebhooks } from './dispatch.ts'
import { deliveryLog, showDelivery } from './delivery-log.ts'
import type { WebhookDeliveryRow } from './outbox.ts'
import { outbox } from './outbox.ts'
import type { EndpointDeps } from './changes.ts'
import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from './changes.ts'
import { showEndpoint } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const endpoints = section('Webhooks', ['workspace'], '/v1/ext/webhook_endpoints')
const deliveries = section('Webhooks', ['workspace'], '/v1/ext/webhook_endpoints/:id/deliveries')
const noun = {
  one: 'an endpoint',
  many: 'endpoints',
  item: '/:id',
  answer: WebhookEndpointShown,
} as const

export const webhookRoutes = (deps: EndpointDeps): Route[] => [
  ...readRoutes(deps),
  ...writeRoutes(deps),
  rotation(deps),
  ...deliveryRoutes(deps),
]

const readRoutes = ({ clock }: Ground): Route[] =>
  endpoints.plain(noun, {
    list: {
      summary: 'List webhook endpoints, without their secrets',
      query: ListQuery,
      scope: 'webhook_endpoints',
      rows: ({ db, tenant }, page) => rows(db.read, 'webhook_endpoints').list(tenant, page),
      show: (row) => showEndpoint(row, clock.now()),
    },
    get: {
      run: async ({ db, tenant, params }) =>
        showEndpoint(await rows(db.read, 'webhook_endpoints').get(tenant, params.id), clock.now()),
    },
  })

const writeRoutes = (deps: EndpointDeps): Route[] =>
  endpoints.plain(noun, {
    create: {
      description: 'No later answer contains its secret.',
      body: WebhookEndpointCreate,
      answer: WebhookEndpointWithSecret,
      async run({ db, tenant, body }) {
        const { row, secret } = await createEndpoint(deps, { db, tenant }, body)
        return { ...showEndpoint(row, deps.clock.now()), secret }
      },
    },
    update: {
      description: 'Also enables or disables it.',
      body: WebhookEndpointUpdate,
      run: async ({ db, tenant, params: { id }, body }) =>
        showEndpoint(await updateEndpoint(deps, { db, tenant, id }, body), deps.clock.now()),
    },
    delete: {
      description: 'Deliveries that wait are not sent.',
      type: 'webhook_endpoint_deleted',
      run: ({ db, tenant, params: { id } }) => deleteEndpoint(deps, { db, tenant, id }),
    },
  })

const rotation = (deps: Ground): Route =>
  endpoints.post(
    '/:id/rotate_secret',
    {
      summary: 'Rotate the signing secret of a webhook endpoint',
      description: 'The old secret signs beside the new one for a day.',
      answer: WebhookEndpointWithSecret,
    },
    async ({ db, tenant, params: { id } }) => {
      const { row, secret } = await rotateSecret(deps, { db, tenant, id })
      return { ...showEndpoint(row, deps.clock.now()), secret }
    },
  )

function deliveryRoutes({ clock }: Ground): Route[] {
  const shown = WebhookDeliveryShown

  /** Puts one delivery to an enabled endpoint and notifies dispatchers. */
  async function putDelivery(
    db: Database,
    tenant: string,
    id: string,
    unit: (tx: Queries) => Promise<WebhookDeliveryRow>,
  ) {
    const row = await db.write(async (tx) => {
      const endpoint = await rows(tx, 'webhook_endpoints').getForUpdate(tenant, id)
      if (endpoint.disabled_at === null) {
        notifyWebhooks(tx)
        return unit(tx)
      }
      throw invalid(`webhook endpoint ${id} is disabled: set its status to enabled first`)
    })
    return showDelivery(row)
  }

  return [
    endpoints.post(
      '/:id/test',
      {
        summary: 'Send a test event to a webhook endpoint',
        description: 'Answers its delivery.',
        answer: shown,
      },
      ({ db, tenant, params: { id } }) =>
        putDelivery(db, tenant, id, (tx) => outbox(tx).test(tenant, id, clock.now())),
    ),
    deliveries.list(
      '',
      {
        summary: 'List the deliveries to a webhook endpoint',
        query: WebhookDeliveryListQuery,
        answer: shown,
      },
      {
        scope: ({ id }) => `webhook_deliveries/${id}`,
        check: ({ db, tenant, params }) =>
          rows(db.read, 'webhook_endpoints').get(tenant, params.id),
        rows: ({ db, tenant, params, query }, page) =>
          deliveryLog(db.read).list(tenant, params.id, { paging: page, state: query.status }),
        show: showDelivery,
      },
    ),
    deliveries.get(
      '/:delivery',
      { summary: 'Get a delivery of a webhook', answer: shown },
      async ({ db, tenant, params: { id, delivery } }) => {
        await rows(db.read, 'webhook_endpoints').get(tenant, id)
        return showDelivery(await deliveryLog(db.read).row(tenant, id, delivery))
      },
    ),
    deliveries.post(
      '/:delivery/redeliver',
      {
        summary: 'Send the event of a webhook delivery once more',
        description: 'As a delivery of its own.',
        answer: shown,
      },
      ({ db, tenant, params: { id, delivery } }) =>
        putDelivery(db, tenant, id, async (tx) => {
          const row = await deliveryLog(tx).row(tenant, id, delivery)
          return outbox(tx).again(row, clock.now())
        }),
    ),
  ]
}
