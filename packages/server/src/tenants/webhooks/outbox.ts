/**
 * Webhook events to be sent, written in the transaction of their change: one row for each subscribed endpoint. They
 * name resources and carry no content.
 */
import type { WebhookAttempt } from '@steward/protocol/webhooks.ts'
import type { WebhookKind } from '@steward/protocol/webhooks.ts'
import { isOpenAIKind } from '@steward/protocol/webhooks.ts'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries } from '../../ground/database/database.ts'
import type { SlotFor } from '../../ground/database/statement.ts'
import { statement } from '../../ground/database/statement.ts'
import type { Tables } from '../../ground/database/tables.ts'
import type { WebhookCause } from './kinds.ts'
import { turnFailed } from './kinds.ts'
import { openaiEvent, toOpenAIKinds } from './openai.ts'
import { fromJson, toJson } from '../../ground/core/text/json-text.ts'

/** The endpoint that the server's settings name. */
export const operatorEndpoint = 'operator'

export const hintSetting = 'webhook_hint'
export const organizationSetting = 'webhook_organization'

const runStarted = 'session.status_run_started'

export type WebhookDeliveryRow = Tables['webhook_deliveries']
/** `id`: the id of the resource. */
type DeliveryIds = {
  id: string
  vault_id?: string
  session_id?: string
  session_thread_id?: string
}

/** Part of another statement: true when the tenant has an enabled endpoint. */
export const hasEndpoint = (tenant: string | RawBuilder<string>) =>
  sql<boolean | number>`exists (
    select 1 from webhook_endpoints where tenant_id = ${tenant} and disabled_at is null
  )`

const endpointsOf = statement((tx, slot: SlotFor<string>) =>
  tx
    .selectFrom('webhook_endpoints')
    .select(['id', 'enabled_events'])
    .where(
      'tenant_id',
      '=',
      slot((tenant) => tenant),
    )
    .where('disabled_at', 'is', null),
)

async function subscribers(tx: Queries, tenant: string, kinds: readonly string[]) {
  const rows = await endpointsOf(tx, tenant)
  return [...kinds, ...toOpenAIKinds(kinds)].flatMap((kind) => {
    const isMeant = (name: string) => name === kind || (name === '*' && !isOpenAIKind(kind))
    const asked = rows.filter(({ enabled_events }) => fromJson(enabled_events).some(isMeant))
    return asked.length > 0 ? [{ kind, endpoints: asked.map(({ id }) => id) }] : []
  })
}

async function readSettings(tx: Queries) {
  const rows = await tx
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', [hintSetting, organizationSetting])
    .execute()
  return new Map(rows.map(({ name, value }) => [name, value]))
}

/** True for a session of environment workers: its event is sent as a hint when the work is enqueued. */
async function isQueued(tx: Queries, tenant: string, session: string): Promise<boolean> {
  const found = await tx
    .selectFrom('sessions')
    .select('self_hosted')
    .where('tenant_id', '=', tenant)
    .where('id', '=', session)
    .executeTakeFirst()
  return found?.self_hosted === 1
}

async function deploymentOf(
  tx: Queries,
  tenant: string,
  session: string,
): Promise<string | undefined> {
  const found = await tx
    .selectFrom('sessions')
    .select('deployment_id')
    .where('tenant_id', '=', tenant)
    .where('id', '=', session)
    .executeTakeFirst()
  return found?.deployment_id ?? undefined
}

export function outbox(tx: Queries) {
  async function write(
    tenant: string,
    sent: readonly { kind: string; endpoints: readonly string[] }[],
    ids: DeliveryIds,
    at: { organization: string | undefined; now: number; dueMs?: number },
  ): Promise<void> {
    const { organization, now, dueMs = now } = at
    const rows: WebhookDeliveryRow[] = []
    for (const { kind, endpoints } of sent) {
      const id = newId('webhook_event')
      const named = { organization_id: organization ?? tenant, workspace_id: tenant }
      const data = { type: kind, ...ids, ...named }
      const body = isOpenAIKind(kind)
        ? await openaiEvent(tx, kind, { tenant, session: ids.id }, { id, now })
        : { type: 'event', id, created_at: iso(now), data }
      for (const endpoint of endpoints)
        rows.push({ ...deliveryOf(tenant, endpoint, { id, kind, body }, now), due_ms: dueMs })
    }
    if (rows.length > 0) await tx.insertInto('webhook_deliveries').values(rows).execute()
  }

  async function put(
    tenant: string,
    kinds: readonly WebhookKind[],
    ids: DeliveryIds,
    now: number,
  ): Promise<void> {
    const sent = await subscribers(tx, tenant, kinds)
    if (sent.length === 0) return
    const organization = (await readSettings(tx)).get(organizationSetting)
    await write(tenant, sent, ids, { organization, now })
  }

  return {
    put,

    /** Like `put`, for kinds of log events. */
    async fromLog(tenant: string, told: readonly WebhookCause[], session: string, now: number) {
      const all = told.flatMap(({ kind, thread }) => (thread === undefined ? kind : []))
      const kinds = all.filter((kind) => kind !== turnFailed)
      const deployment = all.includes(turnFailed) && (await deploymentOf(tx, tenant, session))
      if (deployment) await put(tenant, [turnFailed], { id: deployment, session_id: session }, now)
      const isHint = kinds.includes(runStarted) && (await isQueued(tx, tenant, session))
      const ofSession = isHint ? kinds.filter((kind) => kind !== runStarted) : kinds
      if (ofSession.length > 0) await put(tenant, ofSession, { id: session }, now)
      for (const { kind, thread } of told)
        if (thread !== undefined)
          await put(tenant, [kind], { id: session, session_thread_id: thread }, now)
    },

    /**
     * Hints to the operator's endpoint and to the tenant's that work of the session is enqueued and can be claimed from
     * `dueMs` on. [webhooks/events/run-started]
     */
    async hint(
      tenant: string,
      session: string,
      { now, dueMs = now }: { now: number; dueMs?: number },
    ): Promise<void> {
      const known = await readSettings(tx)
      const [asked] = await subscribers(tx, tenant, [runStarted])
      const ours = known.get(hintSetting) === 'on' ? [operatorEndpoint] : []
      const endpoints = [...ours, ...(asked?.endpoints ?? [])]
      if (endpoints.length === 0) return
      const organization = known.get(organizationSetting)
      const sent = [{ kind: runStarted, endpoints }]
      await write(tenant, sent, { id: session }, { organization, now, dueMs })
    },

    /** Puts a test event for one endpoint, whatever its subscriptions. */
    async test(tenant: string, endpoint: string, now: number): Promise<WebhookDeliveryRow> {
      const named = {
        organization_id: (await readSettings(tx)).get(organizationSetting) ?? tenant,
        workspace_id: tenant,
      }
      const kind = 'webhook_endpoint.test'
      const id = newId('webhook_event')
      const data = { type: kind, id: endpoint, ...named }
      const body = { type: 'event', id, created_at: iso(now), data }
      const row = deliveryOf(tenant, endpoint, { id, kind, body }, now)
      await tx.insertInto('webhook_deliveries').values(row).execute()
      return row
    },

    /** Puts the event of a delivery once more, as a new delivery. */
    async again(row: WebhookDeliveryRow, now: number): Promise<WebhookDeliveryRow> {
      const { tenant_id, endpoint_id, event_id, kind, body } = row
      const next = { ...waitingDelivery(now), tenant_id, endpoint_id, event_id, kind, body }
      await tx.insertInto('webhook_deliveries').values(next).execute()
      return next
    },
  }
}

function waitingDelivery(now: number) {
  const state: WebhookDeliveryRow['state'] = 'waiting'
  const id = newId('webhook_delivery')
  const fresh = { begun: 0, due_ms: now, attempts: toJson<WebhookAttempt[]>([]) }
  return { ...fresh, id, state, created_at: iso(now), ended_at: null }
}

const deliveryOf = (
  tenant: string,
  endpoint: string,
  { id, kind, body }: { id: string; kind: string; body: object },
  now: number,
): WebhookDeliveryRow => ({
  ...waitingDelivery(now),
  tenant_id: tenant,
  endpoint_id: endpoint,
  event_id: id,
  kind,
  body: JSON.stringify(body),
})
