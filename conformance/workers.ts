/** Worker pools: a self-hosted environment, its key, and sessions claimed from it. */
import assert from 'node:assert/strict'
import type { ServiceClients, TestService } from './service.ts'
import type { SeenEvent } from './turns.ts'
import { fresh, message, post, say } from './turns.ts'
import { until } from './until.ts'

export type WorkerPool = { environment: string; path: string; key: string; keyId: string }

export async function newPool(service: ServiceClients): Promise<WorkerPool> {
  const { body } = await service.ask('POST', '/v1/environments', {
    name: fresh('pool'),
    config: { type: 'self_hosted' },
  })
  const named = { name: fresh('worker'), environment_id: body.id }
  const made = await service.ask<{ id: string; key: string }>('POST', '/v1/ext/api_keys', named)
  const path = `/v1/environments/${body.id}`
  return { environment: body.id, path, key: made.body.key, keyId: made.body.id }
}

export async function sessionIn(
  service: ServiceClients,
  { environment }: WorkerPool,
  agent: object = {},
  session: object = {},
): Promise<string> {
  const { beta } = service.client
  const tools = [{ type: 'agent_toolset_20260401' as const }]
  const made = await beta.agents.create({
    ...{ name: fresh('agent'), model: 'offline', tools },
    ...agent,
  })
  const whole = { agent: made.id, environment_id: environment, ...session }
  return (await beta.sessions.create(whole)).id
}

export type ClaimedSession = {
  session: string
  work: string
  token: string
  /** Waits for the first tool call that a worker must run, and returns its id. */
  call(): Promise<string>
}

type PolledWork = { id: string; secret: string; data: { id: string } } | null

export async function poll(
  service: ServiceClients,
  pool: WorkerPool,
  query = '',
): Promise<PolledWork> {
  const headers = { 'x-api-key': '', authorization: `Bearer ${pool.key}` }
  const path = `${pool.path}/work/poll${query}`
  return (await service.ask<PolledWork>('GET', path, undefined, headers)).body
}

/** Acknowledges a claimed work item with the key of the pool. */
export async function acknowledge(
  service: ServiceClients,
  pool: WorkerPool,
  work: string,
): Promise<void> {
  const headers = { 'x-api-key': '', authorization: `Bearer ${pool.key}` }
  const path = `${pool.path}/work/${work}/ack`
  assert.equal((await service.ask('POST', path, undefined, headers)).status, 200)
}

export const tokenOf = (secret: string): string =>
  (JSON.parse(Buffer.from(secret, 'base64url').toString()) as { sessions_token: string })
    .sessions_token

/** Creates a session and claims its work item. */
export async function claimedSession(
  service: TestService,
  pool: WorkerPool,
  text?: string,
  whole: object = {},
): Promise<ClaimedSession> {
  const session = await sessionIn(service, pool, {}, whole)
  const stream = await service.client.beta.sessions.events.stream(session)
  if (text !== undefined)
    await service.client.beta.sessions.events.send(session, { events: [message(text)] })
  const item = await poll(service, pool, '?reclaim_older_than_ms=600000')
  assert.equal(item?.data.id, session)
  return {
    ...{ session, work: item.id, token: tokenOf(item.secret) },
    async call() {
      for await (const event of stream) if (event.type === 'agent.tool_use') return event.id
      throw new Error('the stream ended without a call')
    },
  }
}

/** Posts events, waits until the session rests, and returns its whole log. */
export async function restsAfter(
  service: ServiceClients,
  session: string,
  ...posted: Parameters<typeof post>[2][]
): Promise<SeenEvent[]> {
  const stream = await service.client.beta.sessions.events.stream(session)
  await post(service, session, ...posted)
  for await (const event of stream)
    if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
  return say(service, session)
}

export const statesOfWork = async (
  service: ServiceClients,
  pool: WorkerPool,
): Promise<string[]> => {
  const { body } = await service.ask('GET', `${pool.path}/work`)
  return body.data.map((item) => String(item['state'])).toSorted((a, b) => (a < b ? -1 : 1))
}

/** Waits until all work items of the pool are stopped. */
export async function untilStopped(service: ServiceClients, pool: WorkerPool): Promise<void> {
  await until(async () => (await statesOfWork(service, pool)).every((state) => state === 'stopped'))
}

type ApiDescription = { paths: Record<string, Record<string, { security: object[] }>> }

/** Returns all routes that require a credential. Parameters become the given ids, or made-up ids. */
export async function credentialRoutes(
  service: ServiceClients,
  ids: Readonly<Record<string, string>>,
): Promise<{ method: string; path: string }[]> {
  const { body } = await service.ask<ApiDescription>('GET', '/openapi.json')
  return Object.entries(body.paths).flatMap(([template, item]) => {
    const path = template
      .split('/')
      .map((part, index, parts) => {
        if (!part.startsWith('{')) return part
        const upTo = parts
          .slice(0, index + 1)
          .join('/')
          .replaceAll(/\{(\w+)\}/g, ':$1')
        return ids[upTo] ?? 'another'
      })
      .join('/')
    return Object.entries(item)
      .filter(([, { security }]) => security.length > 0)
      .map(([method]) => ({ method: method.toUpperCase(), path }))
  })
}
