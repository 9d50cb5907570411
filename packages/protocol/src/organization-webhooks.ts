/** The webhook endpoints of a workspace, in the shapes of the official administration. */
import { z } from 'zod'
import { byId } from './organization.ts'
import { TwentyById } from './organization-people.ts'
import { CreatedAt, UpdatedAt } from './primitives.ts'
import { WebhookEndpointCreate, WebhookEndpointUpdate } from './webhooks.ts'

const { url, enabled_events, description } = WebhookEndpointCreate.shape
const name = description.describe('What the endpoint is for, where `description` is absent.')

const shown = {
  id: z.string(),
  url: z.string().describe('Where events are posted.'),
  name: z.string().describe('The same text as `description`.'),
  description: z.string().describe('What the endpoint is for; empty where nothing was given.'),
  enabled_events: z.array(z.string()).describe('Types of events that are sent; `*` for all.'),
  state: z.enum(['enabled', 'disabled']).describe('Whether events are sent to it.'),
  disabled_reason: z.string().describe('Why it is disabled; empty while it is enabled.'),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
}

export const OrganizationWebhookShown = z.object(shown).meta({
  id: 'OrganizationWebhookEndpoint',
  description: 'A webhook endpoint, as the administration shows it.',
})
export type OrganizationWebhookShown = z.infer<typeof OrganizationWebhookShown>

const signing_secret = z.string().describe('Signs deliveries. No other answer contains it.')

export const OrganizationWebhookCreated = z.object({ ...shown, signing_secret }).meta({
  id: 'OrganizationWebhookEndpointWithSecret',
  description: 'A webhook endpoint with its secret.',
})

export const OrganizationWebhookSecret = z.object({ signing_secret }).meta({
  id: 'OrganizationWebhookSecret',
  description: 'A new secret; the old one signs beside it for a day.',
})

export const OrganizationWebhookQuery = TwentyById.extend({
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .describe('By the time of creation; `desc` when absent.'),
})
export const OrganizationWebhookList = z
  .object({ data: z.array(OrganizationWebhookShown), ...byId })
  .meta({ id: 'OrganizationWebhookEndpointList', description: 'Webhook endpoints.' })

export const OrganizationWebhookCreate = z
  .strictObject({ url, enabled_events, name: name.optional(), description })
  .meta({
    id: 'OrganizationWebhookCreateParams',
    examples: [{ url: 'https://hooks.example.com/steward', enabled_events: ['session.idled'] }],
  })

export const OrganizationWebhookUpdate = z
  .strictObject({
    url: WebhookEndpointUpdate.shape.url,
    enabled_events: WebhookEndpointUpdate.shape.enabled_events,
    name: name.optional(),
    description: WebhookEndpointUpdate.shape.description,
    state: WebhookEndpointUpdate.shape.status,
  })
  .meta({ id: 'OrganizationWebhookUpdateParams', examples: [{ state: 'disabled' }] })
