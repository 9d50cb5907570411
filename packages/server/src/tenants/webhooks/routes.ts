import { ListQuery } from '@steward/protocol/primitives.ts'
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
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import { lockAdvisory } from '../../ground/database/lock.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { deliveryStore } from './deliveries.ts'
import { notifyWebhooks } from './dispatch.ts'
import { deliveryLog, showDelivery } from './delivery-log.ts'
import type { WebhookDeliveryRow } from './outbox.ts'
import { outbox } from './outbox.ts'
import { newSecret } from './sign.ts'
import type { EndpointRow } from './store.ts'
import { endpointOf, endpointStore, sealedSecrets, secretsOf, showEndpoint } from './store.ts'
import { changedEndpoint } from './update.ts'

const endpoints = section('Webhooks', ['workspace'], '/v1/ext/webhook_endpoints')
const deliveries = section('Webhooks', ['workspace'], '/v1/ext/webhook_endpoints/:id/deliveries')
const noun = {
  one: 'an endpoint',
  many: 'endpoints',
  item: '/:id',
  answer: WebhookEndpointShown,
} as const

/** Bound of endpoints a workspace. */
export const mostEndpoints = 20
/** Time in which the old secret of a rotation also signs. */
const overlapMs = 24 * 60 * 60 * 1000

type WebhookRouteDeps = { bus: Bus; seal: Seal; clock: Clock }

export const webhookRoutes = (deps: WebhookRouteDeps): Route[] => [
  ...readRoutes(deps),
  ...writeRoutes(deps),
  rotation(deps),
  ...deliveryRoutes(deps),
]

const readRoutes = ({ clock }: WebhookRouteDeps): Route[] =>
  endpoints.plain(noun, {
    list: {
      summary: 'List endpoints, without their secrets',
      query: ListQuery,
      scope: 'webhook_endpoints',
      rows: ({ db, tenant }, page) => endpointStore(db.read).list(tenant, page),
      show: (row) => showEndpoint(row, clock.now()),
    },
    get: {
      run: async ({ db, tenant, params }) =>
        showEndpoint(await endpointStore(db.read).row(tenant, params.id), clock.now()),
    },
  })

/** @throws PlatformError when the workspace has the most endpoints already. */
export async function insertEndpoint(tx: Queries, row: EndpointRow): Promise<void> {
  await lockAdvisory(tx, `${row.tenant_id}/webhook_endpoints`)
  if ((await endpointStore(tx).count(row.tenant_id)) >= mostEndpoints)
    throw invalid(`a workspace has at most ${mostEndpoints} webhook endpoints`)
  await endpointStore(tx).insert(row)
}

const writeRoutes = ({ seal, clock }: WebhookRouteDeps): Route[] =>
  endpoints.plain(noun, {
    create: {
      description: 'No later answer contains its secret.',
      body: WebhookEndpointCreate,
      answer: WebhookEndpointWithSecret,
      async run({ db, tenant, body }) {
        const secret = newSecret()
        const row = endpointOf(tenant, body, { seal, secret, now: clock.now() })
        await db.write((tx) => insertEndpoint(tx, row))
        return { ...showEndpoint(row, clock.now()), secret }
      },
    },
    update: {
      description: 'Also enables or disables it.',
      body: WebhookEndpointUpdate,
      run: ({ db, tenant, params: { id }, body }) =>
        db.write(async (tx) => {
          const now = clock.now()
          const kept = await endpointStore(tx).take(tenant, id)
          const changed = changedEndpoint(kept, body, now)
          if (changed.disabled_at !== null) await deliveryStore(tx).drop(id, now)
          await endpointStore(tx).update(kept, changed)
          return showEndpoint(changed, now)
        }),
    },
    delete: {
      description: 'Deliveries that wait are not sent.',
      type: 'webhook_endpoint_deleted',
      run: ({ db, tenant, params: { id } }) =>
        db.write(async (tx) => {
          await endpointStore(tx).take(tenant, id)
          await endpointStore(tx).remove(tenant, id)
          await deliveryStore(tx).drop(id, clock.now())
        }),
    },
  })

const rotation = ({ seal, clock }: WebhookRouteDeps): Route =>
  endpoints.post(
    '/:id/rotate_secret',
    {
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
        await endpointStore(tx).update(kept, changed)
        return { ...showEndpoint(changed, now), secret }
      })
    },
  )

function deliveryRoutes({ bus, clock }: WebhookRouteDeps): Route[] {
  const shown = WebhookDeliveryShown

  /** Puts one delivery to an enabled endpoint and notifies dispatchers. */
  async function putDelivery(
    db: Database,
    tenant: string,
    id: string,
    unit: (tx: Queries) => Promise<WebhookDeliveryRow>,
  ) {
    const row = await db.write(async (tx) => {
      const endpoint = await endpointStore(tx).take(tenant, id)
      if (endpoint.disabled_at === null) return unit(tx)
      throw invalid(`webhook endpoint ${id} is disabled: set its status to enabled first`)
    })
    notifyWebhooks(bus)
    return showDelivery(row)
  }

  return [
    endpoints.post(
      '/:id/test',
      {
        summary: 'Send a test event to an endpoint',
        description: 'Answers its delivery.',
        answer: shown,
      },
      ({ db, tenant, params: { id } }) =>
        putDelivery(db, tenant, id, (tx) => outbox(tx).test(tenant, id, clock.now())),
    ),
    deliveries.list(
      '',
      {
        summary: 'List the deliveries to an endpoint',
        query: WebhookDeliveryListQuery,
        answer: shown,
      },
      {
        scope: ({ id }) => `webhook_deliveries/${id}`,
        check: ({ db, tenant, params }) => endpointStore(db.read).row(tenant, params.id),
        rows: ({ db, tenant, params, query }, page) =>
          deliveryLog(db.read).list(tenant, params.id, { paging: page, state: query.status }),
        show: showDelivery,
      },
    ),
    deliveries.get(
      '/:delivery',
      { summary: 'Get a delivery', answer: shown },
      async ({ db, tenant, params: { id, delivery } }) => {
        await endpointStore(db.read).row(tenant, id)
        return showDelivery(await deliveryLog(db.read).row(tenant, id, delivery))
      },
    ),
    deliveries.post(
      '/:delivery/redeliver',
      {
        summary: 'Send the event of a delivery once more',
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
