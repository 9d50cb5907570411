/** Webhooks: their events, and the endpoints of a workspace that receive them. */
import { z } from 'zod'
import { CreatedAt, HttpUrl, Line, ListQuery, Timestamp, UpdatedAt } from './primitives.ts'

/** Events of `/v1` that this service sends. */
export const webhookKinds = [
  'agent.created',
  'agent.updated',
  'agent.archived',
  'environment.created',
  'environment.updated',
  'environment.archived',
  'environment.deleted',
  'session.created',
  'session.updated',
  'session.pending',
  'session.running',
  'session.idled',
  'session.requires_action',
  'session.budget_half_spent',
  'session.budget_nearly_spent',
  'session.budget_reached',
  'session.outcome_evaluation_ended',
  'session.archived',
  'session.deleted',
  'session.status_run_started',
  'session.status_idled',
  'session.status_rescheduled',
  'session.status_terminated',
  'session.thread_created',
  'session.thread_idled',
  'session.thread_terminated',
  'vault.created',
  'vault.archived',
  'vault.deleted',
  'vault_credential.created',
  'vault_credential.archived',
  'vault_credential.deleted',
  'vault_credential.refresh_failed',
  'memory_store.created',
  'memory_store.archived',
  'memory_store.deleted',
  'deployment.created',
  'deployment.updated',
  'deployment.paused',
  'deployment.unpaused',
  'deployment.archived',
  'deployment_run.started',
  'deployment_run.succeeded',
  'deployment_run.failed',
  'deployment.turn_failed',
  'workspace.spend_limit_half_spent',
  'workspace.spend_limit_nearly_spent',
  'workspace.spend_limit_reached',
] as const
export type WebhookKind = (typeof webhookKinds)[number]

/** Events of `/openai/v1`, in the form that its client unwraps. `*` does not include them. */
export const openaiWebhookKinds = [
  'agent.session.created',
  'agent.session.in_progress',
  'agent.session.idle',
  'agent.session.action_required',
  'agent.session.failed',
] as const
export type OpenAIWebhookKind = (typeof openaiWebhookKinds)[number]

const openaiKinds: ReadonlySet<string> = new Set(openaiWebhookKinds)
export const isOpenAIKind = (kind: string): kind is OpenAIWebhookKind => openaiKinds.has(kind)

/** Events of the contract that this service never sends. */
const withoutSource = new Set([
  'agent.deleted',
  'deployment.deleted',
  'user_profile.program_status_updated',
  'user_profile.enforcement_action_opened',
  'user_profile.enforcement_action_resolved',
  'external_key.failed',
  'external_key.recovered',
  'external_storage.failed',
  'external_storage.recovered',
  'agent.environment.ready',
  'agent.environment.failed',
  'agent.environment.suspended',
  'agent.environment.expired',
])

const known: ReadonlySet<string> = new Set([...webhookKinds, ...openaiWebhookKinds])

const Kind = z.string().check((context) => {
  const { value } = context
  if (value === '*' || known.has(value)) return
  const message = withoutSource.has(value)
    ? `${value} is sent by nothing in this service`
    : `${JSON.stringify(value.slice(0, 64))} is no event; * stands for all there are`
  context.issues.push({ code: 'custom', message, input: value })
})

const Kinds = z
  .array(Kind)
  .min(1)
  .max(64)
  .refine((kinds) => new Set(kinds).size === kinds.length, 'must have each event once')
  .describe(
    'Types of events, or `*` for all but those that begin with `agent.session.`, which have the form of `/openai/v1`.',
  )

const Description = Line.max(1024).describe('What the endpoint is for.')

const url = HttpUrl.describe('Where events are posted.')

export const WebhookEndpointCreate = z
  .strictObject({ url, enabled_events: Kinds, description: Description.nullish() })
  .meta({
    id: 'WebhookEndpointCreateParams',
    examples: [
      {
        url: 'https://hooks.example.com/steward',
        enabled_events: ['session.idled', 'session.requires_action'],
      },
    ],
  })
export type WebhookEndpointCreate = z.infer<typeof WebhookEndpointCreate>

export const WebhookEndpointUpdate = z
  .strictObject({
    url: url.optional(),
    enabled_events: Kinds.optional(),
    description: Description.nullish(),
    status: z.enum(['enabled', 'disabled']).optional().describe('Whether events are sent to it.'),
  })
  .meta({ id: 'WebhookEndpointUpdateParams', examples: [{ enabled_events: ['*'] }] })
export type WebhookEndpointUpdate = z.infer<typeof WebhookEndpointUpdate>

export const WebhookEndpointShown = z
  .object({
    id: z.string(),
    type: z.literal('webhook_endpoint'),
    url: z.string().describe('Where events are posted.'),
    description: z.string().nullable(),
    enabled_events: z.array(z.string()).describe('Types of events that are sent; `*` for all.'),
    status: z.enum(['enabled', 'disabled']).describe('Whether events are sent to it.'),
    disabled_reason: z
      .enum(['redirect', 'failures', 'request'])
      .nullable()
      .describe(
        '`redirect`: the endpoint answered with one. `failures`: too many deliveries failed in a row. `request`: an update asked for it.',
      ),
    disabled_at: Timestamp.nullable().describe('When it was disabled, or null.'),
    previous_secret_expires_at: Timestamp.nullable().describe(
      'Until then the previous secret signs too.',
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({
    id: 'WebhookEndpoint',
    description: 'An address that receives events, without its secret.',
  })
export type WebhookEndpoint = z.infer<typeof WebhookEndpointShown>

/** The answer to a create and to a rotation. No other answer holds the secret. */
export const WebhookEndpointWithSecret = WebhookEndpointShown.extend({
  secret: z.string().describe('Signs each delivery. No other answer contains it.'),
}).meta({ id: 'WebhookEndpointWithSecret', description: 'An endpoint with its secret.' })

export const WebhookDeliveryListQuery = ListQuery.extend({
  status: z
    .enum(['waiting', 'delivered', 'failed'])
    .optional()
    .describe('Only deliveries in this state.'),
})

const WebhookAttempt = z.object({
  at: Timestamp.nullable().describe('When the attempt began.'),
  status: z.int().nullable().describe('Status of the answer; null without one.'),
  error: z.string().nullable().describe('Why there was no answer, or null.'),
  duration_ms: z.int().nullable().describe('Milliseconds that it took.'),
})
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

export const WebhookDeliveryShown = z
  .object({
    id: z.string(),
    type: z.literal('webhook_delivery'),
    endpoint_id: z.string().describe('The id of the endpoint.'),
    event_id: z.string().describe('Sent as the header `webhook-id`.'),
    event_type: z.string().describe('The type of the event, such as `session.idled`.'),
    status: z
      .enum(['waiting', 'delivered', 'failed'])
      .describe('Whether another attempt waits, or how the delivery ended.'),
    attempts: z.array(WebhookAttempt).describe('At most three, the first one first.'),
    next_attempt_at: Timestamp.nullable().describe('When the next attempt begins, or null.'),
    body: z.string().describe('As it is sent.'),
    created_at: CreatedAt,
    ended_at: Timestamp.nullable().describe('When the delivery ended, or null.'),
  })
  .meta({ id: 'WebhookDelivery', description: 'One event on its way to one endpoint.' })
export type WebhookDelivery = z.infer<typeof WebhookDeliveryShown>
