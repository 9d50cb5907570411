import type { WebhookEndpointUpdate } from '@steward/protocol/webhooks.ts'
import { iso } from '@steward/base/time.ts'
import type { EndpointRow } from './store.ts'

/** The row with the caller's changes; the same row when nothing changes. Enabling resets the failures. */
export function changedEndpoint(
  kept: EndpointRow,
  { url, description, enabled_events, status }: WebhookEndpointUpdate,
  now: number,
): EndpointRow {
  const next = { ...kept, ...statusColumns(kept, status, now), url: url ?? kept.url }
  if (description !== undefined) next.description = description
  if (enabled_events) next.enabled_events = enabled_events
  const isSame = JSON.stringify(next) === JSON.stringify(kept)
  return isSame ? kept : { ...next, updated_at: iso(now) }
}

function statusColumns(
  kept: EndpointRow,
  status: WebhookEndpointUpdate['status'],
  now: number,
): Partial<EndpointRow> {
  const isDisabled = kept.disabled_at !== null
  if (status === 'enabled' && isDisabled)
    return { disabled_at: null, disabled_reason: null, failures: 0 }
  if (status === 'disabled' && !isDisabled)
    return { disabled_at: iso(now), disabled_reason: 'request' }
  return {}
}
