/** Endpoints of webhooks, and what came of them, as a workspace sees it. */
import assert from 'node:assert/strict'
import type { Clients, Service } from './service.ts'
import { until } from './until.ts'

export const hooks = '/v1/ext/webhook_endpoints'

export type Endpoint = {
  id: string
  url: string
  secret: string
  status: string
  disabled_reason: string | null
  enabled_events: string[]
  previous_secret_expires_at: string | null
  [more: string]: unknown
}
export type Delivery = {
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
  service: Clients,
  url: string,
  enabled_events: string[] = ['*'],
): Promise<Endpoint> {
  const { status, body } = await service.ask<Endpoint>('POST', hooks, { url, enabled_events })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Newest first. */
export const deliveries = async (service: Clients, endpoint: string, query = '') => {
  const path = `${hooks}/${endpoint}/deliveries?limit=1000${query}`
  return (await service.ask<{ data: Delivery[] }>('GET', path)).body.data
}

export const haveEnded = (all: Delivery[]): boolean =>
  all.length > 0 && all.every(({ status }) => status !== 'waiting')

/** Looks until they are so. */
export async function delivered(
  service: Clients,
  endpoint: string,
  is: (all: Delivery[]) => boolean,
): Promise<Delivery[]> {
  for (;;) {
    const all = await deliveries(service, endpoint)
    if (is(all)) return all
  }
}

/** An attempt at the operator's endpoint has ended in vain: the next one is due by the clock at which it did. */
export const hintFailed = ({ tenantDatabase }: Pick<Service, 'tenantDatabase'>): Promise<void> =>
  until(async () => {
    const waiting = await tenantDatabase.read
      .selectFrom('webhook_deliveries')
      .select('attempts')
      .where('endpoint_id', '=', 'operator')
      .where('state', '=', 'waiting')
      .execute()
    return waiting.some(({ attempts }) => attempts !== '[]')
  })
