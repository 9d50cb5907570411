import type { WebhookAttempt } from '@steward/protocol/webhooks.ts'
import type { Sealed } from '../core/seal.ts'
import type { Json } from '../core/json-text.ts'

export type SealedSigningSecrets = { current: Sealed; previous?: Sealed }

export type WebhookTables = {
  webhook_endpoints: {
    tenant_id: string
    id: string
    url: string
    description: string | null
    /** Names of events, or `*`. */
    enabled_events: Json<string[]>
    /** `current`, and `previous` while it still signs. Each is sealed by itself. */
    sealed_secrets: Json<SealedSigningSecrets>
    previous_until: string | null
    /** Consecutive failed deliveries. */
    failures: number
    disabled_reason: 'redirect' | 'failures' | 'request' | null
    disabled_at: string | null
    created_at: string
    updated_at: string
  }
  webhook_deliveries: {
    tenant_id: string
    id: string
    /** `operator`: the endpoint of the server's settings. */
    endpoint_id: string
    event_id: string
    kind: string
    /** The body of every attempt. */
    body: string
    state: 'waiting' | 'delivered' | 'failed'
    /** Number of started attempts. An attempt writes its end only while it is the last one. */
    begun: number
    /** When the next attempt is due, or when the current one counts as lost. Null at the end. */
    due_ms: number | null
    /** The ends of the attempts. */
    attempts: Json<WebhookAttempt[]>
    created_at: string
    ended_at: string | null
  }
}
