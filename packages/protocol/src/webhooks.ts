/** Webhooks: their events, and the endpoints that a workspace has them sent to. */
import { z } from 'zod'
import { HttpUrl, Line, ListQuery, Timestamp } from './primitives.ts'

/** Those that something in this service brings about. */
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
  'session.archived',
  'session.deleted',
  'session.status_run_started',
  'session.status_idled',
  'session.status_rescheduled',
  'session.status_terminated',
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
] as const
export type WebhookKind = (typeof webhookKinds)[number]

/** Those of the contract that nothing here brings about. */
const withoutSource = new Set([
  'agent.deleted',
  'session.budget_reached',
  'session.outcome_evaluation_ended',
  'session.thread_created',
  'session.thread_idled',
  'session.thread_terminated',
  ...['created', 'updated', 'paused', 'unpaused', 'archived', 'deleted'].map(
    (end) => `deployment.${end}`,
  ),
  ...['started', 'succeeded', 'failed'].map((end) => `deployment_run.${end}`),
  'user_profile.program_status_updated',
  'user_profile.enforcement_action_opened',
  'user_profile.enforcement_action_resolved',
  'external_key.failed',
  'external_key.recovered',
])

const known: ReadonlySet<string> = new Set(webhookKinds)

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
  .refine((kinds) => new Set(kinds).size === kinds.length, 'each event once')

const Description = Line.max(1024)

export const WebhookEndpointCreate = z.strictObject({
  url: HttpUrl,
  enabled_events: Kinds,
  description: Description.nullish(),
})
export type WebhookEndpointCreate = z.infer<typeof WebhookEndpointCreate>

export const WebhookEndpointUpdate = z.strictObject({
  url: HttpUrl.optional(),
  enabled_events: Kinds.optional(),
  description: Description.nullish(),
  status: z.enum(['enabled', 'disabled']).optional(),
})
export type WebhookEndpointUpdate = z.infer<typeof WebhookEndpointUpdate>

export const WebhookEndpointShown = z.object({
  id: z.string(),
  type: z.literal('webhook_endpoint'),
  url: z.string(),
  description: z.string().nullable(),
  enabled_events: z.array(z.string()),
  status: z.enum(['enabled', 'disabled']),
  /** `redirect`: it answered with one; `failures`: too many deliveries in a row failed; `request`: it was asked for. */
  disabled_reason: z.enum(['redirect', 'failures', 'request']).nullable(),
  disabled_at: Timestamp.nullable(),
  /** Until then the previous secret signs too. */
  previous_secret_expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type WebhookEndpoint = z.infer<typeof WebhookEndpointShown>

/** The answers to a create and to a rotation, which alone hold the secret. */
export const WebhookEndpointWithSecret = WebhookEndpointShown.extend({ secret: z.string() })

export const WebhookDeliveryListQuery = ListQuery.extend({
  status: z.enum(['waiting', 'delivered', 'failed']).optional(),
})

const WebhookAttempt = z.object({
  at: Timestamp.nullable(),
  /** Of the answer; null without one. */
  status: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: z.int().nullable(),
})
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

export const WebhookDeliveryShown = z.object({
  id: z.string(),
  type: z.literal('webhook_delivery'),
  endpoint_id: z.string(),
  /** The event's id, which is its `webhook-id`. */
  event_id: z.string(),
  event_type: z.string(),
  status: z.enum(['waiting', 'delivered', 'failed']),
  attempts: z.array(WebhookAttempt),
  next_attempt_at: Timestamp.nullable(),
  /** As it is sent. */
  body: z.string(),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
})
export type WebhookDelivery = z.infer<typeof WebhookDeliveryShown>
