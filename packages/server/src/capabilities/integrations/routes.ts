import {
  IntegrationDeliveryQuery,
  IntegrationDeliveryShown,
  PublicationCreate,
  PublicationCreated,
  PublicationListQuery,
  PublicationShown,
} from '@steward/protocol/integrations.ts'
import { ListQuery } from '@steward/protocol/primitives.ts'
import { recordBody } from '../../ground/http/limits.ts'
import { emptyReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { onlyThroughProcess, webhookHeaders } from './deliveries/entrance.ts'
import { installationRoutes } from './installations/install-routes.ts'
import { parseIntegrationId } from './kinds.ts'
import {
  createPublication,
  deletePublication,
  deliveryUrlOf,
  getPublication,
  setPaused,
  shownWith,
} from './publications.ts'
import { deliveryBody, receiveSigned } from './deliveries/receive.ts'
import { tellAgain } from './answers/tell-again.ts'
import type { PublicationRow } from './store.ts'
import { integrationStore, showDelivery, showPublication } from './store.ts'
import { mapListing } from '../../ground/core/text/page.ts'
import type { TenantRef } from '../../ground/database/database.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import type { OpenIntegrations } from './open.ts'
import type { People } from '../../tenants/people/people.ts'

const integrations = section('Integrations', ['workspace'], '/v1/ext/integrations')
const webhooks = section('Integrations', ['anyone'], '/v1/ext/integrations/webhook/webhook')

type IntegrationRouteDeps = OpenSessionDeps & OpenIntegrations & { people: People }

/** `internalSecret`: the secret of the integrations process, when deliveries come through that process. */
export const integrationRoutes = (deps: IntegrationRouteDeps): Route[] =>
  onlyThroughProcess(routesOf(deps), deps.internalSecret)

function routesOf(deps: IntegrationRouteDeps): Route[] {
  const { publicUrl } = deps
  const shown = (row: PublicationRow, { db, origin }: { db: TenantRef['db']; origin: string }) =>
    shownWith(deps, db.read, { row, origin })
  const named = ({
    tenant,
    params,
  }: {
    tenant: string
    params: { integration_id: string; pub_id: string }
  }) => ({
    tenant,
    integration: parseIntegrationId(params.integration_id),
    id: params.pub_id,
  })
  const receiving = webhooks.raw.post(
    '/:pub_id',
    {
      summary: 'Receive a signed request of another system',
      description:
        'Signed with the secret of the publication, as Standard Webhooks has it; no key is sent. A repeated `webhook-id` changes nothing.',
      bytes: {
        type: 'application/json',
        description: 'The request, in the form that the mapping of the publication reads.',
      },
      limits: deliveryBody,
      isSigned: true,
      answer: 'none',
    },
    async ({ params: { pub_id: publication }, search, header, address }, { text }) => {
      const workspace = new URLSearchParams(search).get('workspace') ?? ''
      const headers = Object.fromEntries(webhookHeaders.map((name) => [name, header(name)]))
      const delivery = { headers, body: Buffer.from(await text()) }
      await receiveSigned(deps, { workspace, publication, delivery, address })
      return emptyReply(200)
    },
  )
  const pausing = (word: 'pause' | 'unpause', description: string): Route =>
    integrations.post(
      `/:integration_id/publications/:pub_id/${word}`,
      {
        summary: word === 'pause' ? 'Pause a publication' : 'Unpause a publication',
        description,
        answer: PublicationShown,
      },
      async (call) => {
        const row = await setPaused(deps, call, named(call), word === 'pause')
        return shown(row, call)
      },
    )
  return [
    ...installationRoutes(deps),
    integrations.post(
      '/:id/publications',
      {
        summary: 'Create a publication',
        description: 'No later answer contains its secret.',
        body: PublicationCreate,
        limits: recordBody,
        answer: PublicationCreated,
      },
      async ({ db, tenant, params: { id }, body, origin }) => {
        const integration = parseIntegrationId(id)
        return createPublication(deps, { db, tenant }, { integration, origin, body })
      },
    ),
    integrations.list(
      '/:id/publications',
      { summary: 'List publications', query: PublicationListQuery, answer: PublicationShown },
      {
        scope: ({ id }) => `publications/${id}`,
        async rows({ db, tenant, params: { id }, origin }, page) {
          const store = integrationStore(db.read)
          const listing = await store.publications(tenant, parseIntegrationId(id), page)
          const all = new Map((await store.installations(tenant)).map((row) => [row.id, row]))
          return mapListing(listing, (row) =>
            showPublication(row, {
              deliveryUrl: deliveryUrlOf(publicUrl ?? origin, row),
              installation: all.get(row.installation_id ?? ''),
            }),
          )
        },
      },
    ),
    integrations.get(
      '/:integration_id/publications/:pub_id',
      { summary: 'Get a publication', answer: PublicationShown },
      async (call) => shown(await getPublication(call.db.read, named(call)), call),
    ),
    integrations.remove(
      '/:integration_id/publications/:pub_id',
      {
        summary: 'Delete a publication',
        description: 'With what came for it. Its sessions stay.',
        type: 'publication_deleted',
      },
      (call) => deletePublication(deps, call, named(call)),
    ),
    pausing('pause', 'What comes for it is ignored, and nobody is told anything.'),
    pausing('unpause', 'What was not told yet is told.'),
    integrations.list(
      '/:integration_id/publications/:pub_id/deliveries',
      {
        summary: 'List the deliveries of a publication',
        query: ListQuery,
        answer: IntegrationDeliveryShown,
      },
      {
        scope: ({ pub_id }) => `publications/${pub_id}/deliveries`,
        async rows(call, page) {
          const { id } = await getPublication(call.db.read, named(call))
          return integrationStore(call.db.read).deliveries(call.tenant, id, page)
        },
      },
    ),
    integrations.post(
      '/:integration_id/publications/:pub_id/deliveries/:delivery_id/tell',
      {
        summary: 'Tell an answer again',
        description:
          'An answer that its receiver has refused, for example because the app was not in the channel.',
        answer: IntegrationDeliveryShown,
      },
      async (call) => {
        const publication = await getPublication(call.db.read, named(call))
        const asked = { publication, delivery: call.params.delivery_id }
        return showDelivery(await tellAgain(deps, call.db, asked))
      },
    ),
    { ...receiving, query: IntegrationDeliveryQuery },
  ]
}
