/** The webhook endpoints of a workspace in the shapes of the official administration. */
import {
  OrganizationWebhookCreate,
  OrganizationWebhookCreated,
  OrganizationWebhookList,
  OrganizationWebhookQuery,
  OrganizationWebhookSecret,
  OrganizationWebhookShown,
  OrganizationWebhookUpdate,
} from '@steward/protocol/organization-webhooks.ts'
import { invalid } from '../../ground/core/errors.ts'
import { besideIn, readIdSide, pageById } from '../../ground/core/text/page.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { EndpointDeps } from './changes.ts'
import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from './changes.ts'
import type { EndpointRow } from './store.ts'
import { endpointStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const endpoints = section('Organisation', ['admin'], '/v1/organizations/webhooks')

const usualLimit = 20

const show = (row: EndpointRow): OrganizationWebhookShown => ({
  id: row.id,
  url: row.url,
  name: row.description ?? '',
  description: row.description ?? '',
  enabled_events: row.enabled_events,
  state: row.disabled_at === null ? 'enabled' : 'disabled',
  disabled_reason: row.disabled_reason ?? '',
  created_at: row.created_at,
  updated_at: row.updated_at,
})

export const organizationWebhookRoutes = (deps: EndpointDeps): Route[] => [
  endpoints.get(
    '',
    {
      summary: 'List webhook endpoints',
      query: OrganizationWebhookQuery,
      answer: OrganizationWebhookList,
    },
    async ({ db, tenant, query }) => {
      const rows = await endpointStore(db.read).all(tenant)
      const all = query.order === 'asc' ? rows : rows.toReversed()
      const from = readIdSide(query)
      if (from && !all.some(({ id }) => id === from.id))
        throw invalid(`${from.side}_id: is no webhook endpoint of the workspace`)
      return pageById(besideIn(all.map(show), from), query.limit ?? usualLimit, from)
    },
  ),
  endpoints.get(
    '/:id',
    { summary: 'Get a webhook endpoint', answer: OrganizationWebhookShown },
    async ({ db, tenant, params }) =>
      show(await rows(db.read, 'webhook_endpoints').get(tenant, params.id)),
  ),
  endpoints.post(
    '',
    {
      summary: 'Create a webhook endpoint',
      description: 'The same endpoints as those of `/v1/ext/webhook_endpoints`, with their events.',
      body: OrganizationWebhookCreate,
      answer: OrganizationWebhookCreated,
    },
    async ({ db, tenant, body: { name, description, ...body } }) => {
      const made = { ...body, description: description ?? name ?? null }
      const { row, secret } = await createEndpoint(deps, { db, tenant }, made)
      return { ...show(row), signing_secret: secret }
    },
  ),
  endpoints.post(
    '/:id',
    {
      summary: 'Update a webhook endpoint',
      description: 'Also enables or disables it.',
      body: OrganizationWebhookUpdate,
      answer: OrganizationWebhookShown,
    },
    async ({ db, tenant, params: { id }, body: { name, description, state, ...body } }) => {
      const text = description === undefined ? name : description
      const change = {
        ...body,
        ...(text !== undefined && { description: text }),
        ...(state !== undefined && { status: state }),
      }
      return show(await updateEndpoint(deps, { db, tenant, id }, change))
    },
  ),
  endpoints.remove(
    '/:id',
    {
      summary: 'Delete a webhook endpoint',
      description: 'Deliveries that wait are not sent.',
      type: 'webhook_endpoint_deleted',
    },
    ({ db, tenant, params: { id } }) => deleteEndpoint(deps, { db, tenant, id }),
  ),
  endpoints.post(
    '/:id/regenerate_signing_secret',
    {
      summary: 'Make a new secret of a webhook endpoint',
      description: 'The old secret signs beside the new one for a day.',
      answer: OrganizationWebhookSecret,
    },
    async ({ db, tenant, params: { id } }) => ({
      signing_secret: (await rotateSecret(deps, { db, tenant, id })).secret,
    }),
  ),
]
