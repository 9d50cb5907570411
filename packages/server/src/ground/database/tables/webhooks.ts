import type { WebhookAttempt } from '@steward/protocol/webhooks.ts'
import type { Sealed } from '../../core/security/seal.ts'
import { json, long, nullable, number, sealedJson, table, text } from '../table.ts'

export type SealedSigningSecrets = { current: Sealed; previous?: Sealed }

export const webhookTables = {
  webhook_endpoints: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    noun: 'webhook endpoint',
    columns: {
      tenant_id: text(),
      id: text(),
      url: long(text()),
      description: nullable(long(text())),
      /** Names of events, or `*`. */
      enabled_events: long(json<string[]>()),
      /** `current`, and `previous` while it still signs. Each is sealed by itself. */
      sealed_secrets: long(sealedJson<SealedSigningSecrets>()),
      previous_until: nullable(text()),
      /** Consecutive failed deliveries. */
      failures: number(),
      disabled_reason: nullable(text<'redirect' | 'failures' | 'request'>()),
      disabled_at: nullable(text()),
      created_at: text(),
      updated_at: text(),
    },
  }),
  webhook_deliveries: table({
    rows: 'tenant',
    key: ['tenant_id', 'id'],
    /** Of an attempt. The number of the attempt fences it. */
    lease: { expires: 'due_ms' },
    columns: {
      tenant_id: text(),
      id: text(),
      /** `operator`: the endpoint of the server's settings. */
      endpoint_id: text(),
      event_id: text(),
      kind: text(),
      /** The body of every attempt. */
      body: text(),
      state: text<'waiting' | 'delivered' | 'failed'>(),
      /** Number of started attempts. An attempt writes its end only while it is the last one. */
      begun: number(),
      /** When the next attempt is due, or when the current one counts as lost. Null at the end. */
      due_ms: nullable(number()),
      /** The ends of the attempts. */
      attempts: json<WebhookAttempt[]>(),
      created_at: text(),
      ended_at: nullable(text()),
    },
  }),
}
