/** Webhook endpoints and their deliveries, as a workspace sees them. */
import assert from 'node:assert/strict'
import type { ServiceClients, TestService } from './service.ts'
import { until } from './until.ts'

export const hooks = '/v1/ext/webhook_endpoints'

export type ListedEndpoint = {
  id: string
  url: string
  secret: string
  status: string
  disabled_reason: string | null
  enabled_events: string[]
  previous_secret_expires_at: string | null
  [more: string]: unknown
}
export type TestDelivery = {
  id: string
  event_id: string
  event_type: string
  status: string
  body: string
  attempts: { at: string; status: number | null; error: string | null; duration_ms: number }[]
  next_attempt_at: string | null
  ended_at: string | null
}

export async function newEndpoint(
  service: ServiceClients,
  url: string,
  enabled_events: string[] = ['*'],
): Promise<ListedEndpoint> {
  const { status, body } = await service.ask<ListedEndpoint>('POST', hooks, { url, enabled_events })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Returns the deliveries of an endpoint, the newest first. */
export const deliveries = async (service: ServiceClients, endpoint: string, query = '') => {
  const path = `${hooks}/${endpoint}/deliveries?limit=1000${query}`
  return (await service.ask<{ data: TestDelivery[] }>('GET', path)).body.data
}

export const haveEnded = (all: TestDelivery[]): boolean =>
  all.length > 0 && all.every(({ status }) => status !== 'waiting')

/** Waits until the deliveries of an endpoint satisfy the condition. */
export async function delivered(
  service: ServiceClients,
  endpoint: string,
  is: (all: TestDelivery[]) => boolean,
): Promise<TestDelivery[]> {
  for (;;) {
    const all = await deliveries(service, endpoint)
    if (is(all)) return all
  }
}

/**
 * Waits for a failed attempt at the operator's endpoint. The next attempt is scheduled from the time of the failure.
 */
export const hintFailed = ({
  tenantDatabase,
}: Pick<TestService, 'tenantDatabase'>): Promise<void> =>
  until(async () => {
    const waiting = await tenantDatabase.read
      .selectFrom('webhook_deliveries')
      .select('attempts')
      .where('endpoint_id', '=', 'operator')
      .where('state', '=', 'waiting')
      .execute()
    return waiting.some(({ attempts }) => attempts !== '[]')
  })
