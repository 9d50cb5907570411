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
    /** `current`, and `previous` while that still signs, each sealed alone. */
    sealed_secrets: Json<SealedSigningSecrets>
    previous_until: string | null
    /** Deliveries in a row that failed. */
    failures: number
    disabled_reason: 'redirect' | 'failures' | 'request' | null
    disabled_at: string | null
    created_at: string
    updated_at: string
  }
  webhook_deliveries: {
    tenant_id: string
    id: string
    /** `operator` stands for the one of the server's own settings. */
    endpoint_id: string
    event_id: string
    kind: string
    /** As it is sent, each time. */
    body: string
    state: 'waiting' | 'delivered' | 'failed'
    /** Attempts that were begun: whoever writes how one ended names the number. */
    begun: number
    /** When the next attempt is due; while one is under way, when it is taken for lost. Null at the end. */
    due_ms: number | null
    /** How they ended. */
    attempts: Json<WebhookAttempt[]>
    created_at: string
    ended_at: string | null
  }
}
