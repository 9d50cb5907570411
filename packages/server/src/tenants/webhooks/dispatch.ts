/**
 * Sends the deliveries of the outbox. An attempt is recorded before it is made, under a number that one process alone
 * gets, so no two processes make it. The attempt of a process that died counts, and the delivery is due again later.
 */
import type { Ground } from '../../ground/ground.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { iso } from '@steward/base/time.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { Notifying } from '../../ground/core/notice.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { runOnEach } from '../../ground/database/database.ts'
import { deliveryAttempted } from './delivery-attempts.ts'
import { deliveryStore } from './deliveries.ts'
import { attemptsOf } from './delivery-log.ts'
import type { WebhookDeliveryRow } from './outbox.ts'
import { hintSetting, operatorEndpoint } from './outbox.ts'
import type { PostDelivery } from './post-delivery.ts'
import { signedHeaders } from './sign.ts'
import { endpointStore, openSigningSecrets } from './store.ts'
import type { PostOutcome } from './verdict.ts'
import { mostAttempts, judgeDelivery } from './verdict.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import { rows } from '../../ground/database/rows.ts'

/** Poll interval for deliveries whose notification was lost. */
const everyMs = 1_000
/** Far longer than an attempt takes: after this time, the process of the attempt is dead. */
const lostMs = 60_000
/** Concurrent attempts of a process: to one endpoint, to a failing one, to the operator's, and in all. */
const most = { endpoint: 4, failing: 1, operator: 16, all: 1024 }
/** Consecutive failed deliveries that disable an endpoint. */
const failuresInARow = 20

const topic = 'webhooks'

/** Notifies dispatchers that the outbox has deliveries. */
export const notifyWebhooks = (tx: Notifying): void => tx.afterCommit({ topic, message: {} })

/** The endpoint at the time of sending. `secrets`: opens them; call it after the workspace's database is open. */
type EndpointTarget = { url: string; secrets: () => string[]; room: number }
type DeliveryAttempt = { row: WebhookDeliveryRow; target: EndpointTarget }

export type DispatchDeps = Ground & {
  /** Posts to endpoints that workspaces name. */
  post: PostDelivery
  /** Posts to the endpoint that the operator names. */
  postHint: PostDelivery
  /** The endpoint that the settings name. */
  hint: { url: string; secret: string } | undefined
  /** What workspaces may post to now. */
  rules: Rules
  random?: () => number
}

export function dispatchJob({ random = Math.random, ...deps }: DispatchDeps): Job {
  const { databases, bus, clock, log, post, postHint } = deps
  const underWay = new Map<string, number>()
  /** The endpoints that take no more attempts of this process until one of theirs has ended. */
  const full = new Set<string>()
  const sending = new Set<Promise<void>>()
  let dispatchNow = () => {}
  /** The last served endpoint; the next run starts after it. */
  let last = ''

  async function serveAll(database: Database, signal: AbortSignal): Promise<true> {
    const isOver = () => signal.aborted || sending.size >= most.all
    if (isOver()) return true
    const waiting = await deliveryStore(database.read).waiting(clock.now())
    // Endpoints take turns, because more may wait than can be served at once.
    const first = waiting.findIndex((endpoint) => endpoint > last)
    const turns = first < 0 ? waiting : [...waiting.slice(first), ...waiting.slice(0, first)]
    for (const endpoint of turns) {
      if (isOver()) return true
      if (full.has(endpoint)) continue
      last = endpoint
      await serve(database, endpoint, signal)
    }
    return true
  }

  async function serve(database: Database, endpoint: string, signal: AbortSignal): Promise<void> {
    const busy = underWay.get(endpoint) ?? 0
    const { begun, room } = await database.write((tx) =>
      beginAttempts(deps, tx, { endpoint, busy }),
    )
    for (const each of begun) {
      underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1)
      const sent = send(database, each, signal)
        .catch((error: unknown) => log.error('a webhook delivery was not kept', { error }))
        .then(() => {
          sending.delete(sent)
          full.delete(endpoint)
          const left = (underWay.get(endpoint) ?? 1) - 1
          if (left > 0) underWay.set(endpoint, left)
          else underWay.delete(endpoint)
          dispatchNow()
        })
      sending.add(sent)
    }
    // Attempts may have ended during the write, so they are counted again.
    if ((underWay.get(endpoint) ?? 0) >= room) full.add(endpoint)
  }

  /** A list may have changed since the endpoint was made. */
  async function refusedOr(
    { tenant_id, endpoint_id }: WebhookDeliveryRow,
    url: string,
    post: () => Promise<PostOutcome>,
  ): Promise<PostOutcome> {
    if (endpoint_id === operatorEndpoint) return post()
    const error = await deps.rules.refusal(tenant_id, 'webhooks', [url])
    return error === undefined ? post() : { error }
  }

  async function send(
    database: Database,
    { row, target }: DeliveryAttempt,
    signal: AbortSignal,
  ): Promise<void> {
    const at = clock.now()
    const { url } = target
    if (row.endpoint_id !== operatorEndpoint) await databases.open(row.tenant_id)
    const headers = signedHeaders({ id: row.event_id, body: row.body }, target.secrets(), at)
    const send = row.endpoint_id === operatorEndpoint ? postHint : post
    const outcome = await refusedOr(row, url, () => send({ url, headers, body: row.body }, signal))
    const attempt = { row, url, at, outcome, now: clock.now(), random: random() }
    const reason = await database.write((tx) => settleAttempt(tx, attempt))
    const isDelivered = judgeDelivery(outcome, row.begun, 0).kind === 'delivered'
    const missed = 'error' in outcome ? 'unanswered' : 'refused'
    deliveryAttempted.tell({ outcome: isDelivered ? 'delivered' : missed })
    const { tenant_id: tenant, endpoint_id } = row
    if (reason) log.warn('webhook endpoint disabled', { tenant, endpoint: endpoint_id, reason })
  }

  return {
    name: 'dispatch webhooks',
    everyMs,
    run: (signal) => runOnEach(databases.due(), (database) => serveAll(database, signal)),
    start(runNow) {
      dispatchNow = runNow
      const unsubscribe = bus.subscribe(topic, runNow)
      /** The stop aborts the requests; another process repeats the attempts. */
      return async () => {
        unsubscribe()
        await Promise.all(sending)
      }
    },
  }
}

/** `room`: how many attempts of a process the endpoint takes at once. */
type BegunAttempts = { begun: DeliveryAttempt[]; room: number }

const nothing: BegunAttempts = { begun: [], room: Infinity }

/** Records attempts, as many as the endpoint has room for. */
async function beginAttempts(
  deps: DispatchDeps,
  tx: Queries,
  { endpoint, busy }: { endpoint: string; busy: number },
): Promise<BegunAttempts> {
  const store = deliveryStore(tx)
  const now = deps.clock.now()
  const [first] = await store.due(endpoint, now, 1)
  if (!first) return nothing
  const target = await targetOf(deps, tx, first, now)
  if (!target) {
    await store.drop(endpoint, now)
    return nothing
  }
  const { room } = target
  const begun: DeliveryAttempt[] = []
  for (const row of busy < room ? await store.due(endpoint, now, room - busy) : []) {
    if (row.begun >= mostAttempts) await giveUp(tx, row, now)
    else if (await store.begin(row, now + lostMs))
      begun.push({ row: { ...row, begun: row.begun + 1 }, target })
  }
  return { begun, room }
}

/** Undefined when the endpoint is disabled or deleted. */
async function targetOf(
  { seal, hint }: DispatchDeps,
  tx: Queries,
  { tenant_id, endpoint_id }: WebhookDeliveryRow,
  now: number,
): Promise<EndpointTarget | undefined> {
  if (endpoint_id === operatorEndpoint)
    return hint && { url: hint.url, secrets: () => [hint.secret], room: most.operator }
  const row = await rows(tx, 'webhook_endpoints').find(tenant_id, endpoint_id)
  if (!row || row.disabled_at !== null) return undefined
  const room = row.failures > 0 ? most.failing : most.endpoint
  return { url: row.url, secrets: () => openSigningSecrets(seal, row, now), room }
}

/** Fails a delivery whose last attempt has no known result, because its process died. */
const giveUp = (tx: Queries, row: WebhookDeliveryRow, now: number) =>
  deliveryStore(tx).update(row, {
    state: 'failed',
    due_ms: null,
    ended_at: iso(now),
    attempts: toJson(begunAttempts(row, row.begun)),
  })

const unknown = {
  at: null,
  status: null,
  error: 'the server ended before there was an answer',
  duration_ms: null,
}

/** The recorded attempts, filled up to `begun` with attempts of unknown result. */
function begunAttempts(row: WebhookDeliveryRow, begun: number) {
  const known = attemptsOf(row)
  return [...known, ...Array.from({ length: Math.max(0, begun - known.length) }, () => unknown)]
}

type SentAttempt = {
  row: WebhookDeliveryRow
  url: string
  at: number
  outcome: PostOutcome
  now: number
  random: number
}

/** Writes the result of an attempt. Returns the reason when it disabled the endpoint. */
async function settleAttempt(
  tx: Queries,
  { row, url, at, outcome, now, random }: SentAttempt,
): Promise<'redirect' | 'failures' | undefined> {
  const store = deliveryStore(tx)
  const { tenant_id: tenant, endpoint_id: endpoint } = row
  const kept = await store.findForUpdate(tenant, row.id)
  if (!kept || kept.begun !== row.begun) return undefined
  const verdict = judgeDelivery(outcome, row.begun, random)
  const answer = { status: null, error: null, ...outcome }
  const attempts = toJson([
    ...begunAttempts(kept, row.begun - 1),
    { at: iso(at), ...answer, duration_ms: now - at },
  ])
  const ended = { attempts, due_ms: null, ended_at: iso(now) }
  if (verdict.kind === 'delivered') {
    await store.update(row, { ...ended, state: 'delivered' })
    await endpointStore(tx).delivered(tenant, endpoint)
    return undefined
  }
  if (verdict.kind === 'again') {
    // Null: the endpoint was disabled meanwhile, so the delivery stays failed.
    const due = kept.due_ms === null ? {} : { due_ms: now + verdict.afterMs }
    await store.update(row, { attempts, ...due })
    return undefined
  }
  await store.update(row, { ...ended, state: 'failed' })
  const reason = await reasonToDisable(tx, row, { url, redirected: verdict.redirected })
  if (!reason) return undefined
  if (endpoint === operatorEndpoint) await endpointStore(tx).setting(hintSetting, 'off')
  else await endpointStore(tx).disable(tenant, endpoint, { reason, now })
  await store.drop(endpoint, now)
  return reason
}

async function reasonToDisable(
  tx: Queries,
  { tenant_id, endpoint_id }: WebhookDeliveryRow,
  { url, redirected }: { url: string; redirected: boolean },
): Promise<'redirect' | 'failures' | undefined> {
  if (endpoint_id === operatorEndpoint) return redirected ? 'redirect' : undefined
  // The endpoint has another URL meanwhile; this answer says nothing about that one.
  if ((await rows(tx, 'webhook_endpoints').find(tenant_id, endpoint_id))?.url !== url)
    return undefined
  if (redirected) return 'redirect'
  const failures = await endpointStore(tx).failed(tenant_id, endpoint_id)
  return failures >= failuresInARow ? 'failures' : undefined
}
