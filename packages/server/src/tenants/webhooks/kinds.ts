import type { NewEvent } from '@steward/protocol/events.ts'
import type { WebhookKind } from '@steward/protocol/webhooks.ts'

const ofEvents: { [type in NewEvent['type']]?: readonly WebhookKind[] } = {
  'session.updated': ['session.updated'],
  'session.status_run_started': ['session.status_run_started'],
  'session.status_running': ['session.running'],
  'session.status_idle': ['session.idled', 'session.status_idled'],
  'session.status_rescheduled': ['session.status_rescheduled'],
  'session.status_terminated': ['session.status_terminated'],
  'session.deleted': ['session.deleted'],
  'span.outcome_evaluation_end': ['session.outcome_evaluation_ended'],
  'session.thread_created': ['session.thread_created'],
  'session.thread_status_idle': ['session.thread_idled'],
  'session.thread_status_terminated': ['session.thread_terminated'],
}

/** `thread`: the thread that the event is about, if any. */
export type WebhookCause = { kind: WebhookKind; thread?: string }

const needed: readonly WebhookKind[] = ['session.requires_action']
/** Sent for sessions of deployments alone. */
export const turnFailed = 'deployment.turn_failed' satisfies WebhookKind
const failures: readonly WebhookKind[] = [turnFailed]

const isFailure = (event: NewEvent): boolean =>
  event.type === 'session.status_terminated' ||
  (event.type === 'session.status_idle' && event.stop_reason.type === 'retries_exhausted')

/** Webhook kinds of log events; empty for nearly all events. [webhooks/events/session-log] */
export const findWebhookCauses = (events: readonly NewEvent[]): WebhookCause[] =>
  events.flatMap((event) => {
    const kinds = ofEvents[event.type] ?? []
    const asks =
      event.type === 'session.status_idle' && event.stop_reason.type === 'requires_action'
    const thread = 'agent_name' in event ? event.session_thread_id : undefined
    const failed = isFailure(event) ? failures : []
    return [...kinds, ...(asks ? needed : []), ...failed].map((kind) =>
      thread === undefined ? { kind } : { kind, thread },
    )
  })
