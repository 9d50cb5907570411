/**
 * Takes deliveries: checks the signature, stores a row, and answers. The dispatch gives the row to a session. Attack: a
 * caller without the secret must not learn what exists, so all refusals have the same words.
 */
import { iso } from '@steward/base/time.ts'
import { PlatformError, unauthorized } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database, Queries, Reads } from '../../../ground/database/database.ts'
import type { KnownIds } from '../../../ground/database/tables/integrations.ts'
import { lockAdvisory } from '../../../ground/database/lock.ts'
import { rateLimitError } from '../../../ground/http/rate-limits.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { Limits } from '../../../tenants/limits/limits.ts'
import { newSecret } from '../../../tenants/webhooks/sign.ts'
import type { Incoming, RawDelivery, Refusal } from '../integration.ts'
import { openPublicationSecrets } from '../publications.ts'
import { toldCalls } from '../answers/questions.ts'
import { tellRefusal } from './refusals.ts'
import { signedWebhook } from './signed-webhook.ts'
import type { DeliveryRow, PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import { notifyIntegrations } from '../topics.ts'
import { parseCommand } from './words.ts'
import { openIfInUse } from '../../../tenants/workspaces/in-use.ts'
import { rows } from '../../../ground/database/rows.ts'

export type ReceiveDeps = Ground & {
  limits: Limits
}

const unknownPublication = (id: string) =>
  new PlatformError(
    'not_found',
    `publication ${id} takes no such delivery: its URL, its webhook-id, webhook-timestamp and webhook-signature, or the secret that signs it is wrong`,
  )

/**
 * A secret that nobody has: deliveries for missing publications are checked too, so that the time of the answer reveals
 * nothing.
 */
const secretOfNobody = newSecret()

/** Limits of a delivery, which is read before its signature is checked. */
export const deliveryBody = { bytes: 4 * 1024 * 1024, values: 200_000 }

/**
 * The most listed deliveries of a publication in an hour. Beyond this number ignored deliveries are dropped, because
 * strangers may send any number.
 */
const mostListed = 1_000

/**
 * The most deliveries of one thread in an hour that become messages. Two agents that answer each other so come to rest.
 */
const mostOfThread = 60
const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

export const keptDeliveryMs = 7 * dayMs
/**
 * The greatest age of a request. The row of a delivery is stored a day longer, so a replay finds that row even when
 * clocks differ by a day.
 */
const mostSaidMs = keptDeliveryMs - dayMs

export type SignedWebhookDelivery = {
  workspace: string
  publication: string
  delivery: RawDelivery
  /** The address of the sender. */
  address: string
}

export async function receiveSigned(
  deps: ReceiveDeps,
  { workspace, publication: id, delivery, address }: SignedWebhookDelivery,
): Promise<void> {
  const { clock, limits } = deps
  const db = await openIfInUse(deps.databases, workspace)
  const found = db && (await rows(db.read, 'publications').find(workspace, id))
  const row = found?.integration === 'webhook' ? found : undefined
  const secrets = row ? openPublicationSecrets(deps.seal, row) : []
  const known = secrets.length > 0 ? secrets : [secretOfNobody]
  const check = signedWebhook.check(delivery, known, clock.now())
  if (check.kind === 'refused') {
    await limits.admit('failures', address)
    if (check.reason === 'stale')
      throw unauthorized('webhook-timestamp: must be of the last 5 minutes, in seconds')
    throw unknownPublication(id)
  }
  if (!db || !row?.spec.webhook) throw unknownPublication(id)
  const verdict = await limits.requests?.count(workspace, 'sessions')
  if (verdict && !verdict.isAdmitted) throw rateLimitError(verdict, 'sessions', 'this workspace')
  const incoming = signedWebhook.read(delivery.body)(row.spec.webhook)
  await keepDelivery(deps, db, row, { external: check.id, incoming })
}

type KeptDelivery = {
  external: string
  incoming: JudgedDelivery
  /** What the provider's own page calls the delivery. */
  number?: string | undefined
  /** What the person is told, where nobody hears. */
  refusal?: Refusal | undefined
}

function whyNotHeard(
  incoming: JudgedDelivery,
  status: PublicationRow['status'],
  now: number,
): string | undefined {
  if (status === 'paused') return 'the publication is paused'
  const isOld = incoming.kind === 'message' && (incoming.saidMs ?? now) < now - mostSaidMs
  return isOld ? `it was said more than ${mostSaidMs / dayMs} days ago` : undefined
}

/** Columns of a delivery that no session has. */
const unanswered = {
  event_id: null,
  target: null,
  missing: null,
  answer_state: null,
  answer_url: null,
  answer_reason: null,
  answer_event: null,
}

/** Stores the ids of names in the publication, so that these follow what they mean. */
async function learn(
  tx: Queries,
  { tenant_id, id }: PublicationRow,
  learned: KnownIds | undefined,
): Promise<void> {
  if (!learned) return
  const kept = await rows(tx, 'publications').getForUpdate(tenant_id, id)
  const { repositories, authors } = kept.known_ids ?? {}
  // What is known already stays.
  const known_ids = {
    repositories: { ...learned.repositories, ...repositories },
    authors: { ...learned.authors, ...authors },
  }
  await rows(tx, 'publications').update(kept, { known_ids })
}

/** Stores a delivery. A repeated delivery changes nothing. */
export async function keepDelivery(
  { clock }: Ground,
  db: Database,
  { tenant_id: tenant, id: publication }: PublicationRow,
  { external, incoming, number, refusal }: KeptDelivery,
): Promise<void> {
  await db.write(async (tx) => {
    const store = integrationStore(tx)
    await lockAdvisory(tx, `${tenant}/${publication}/repetitions/${external}`)
    // Deliveries of a thread are stored one after the other, so that their ids sort in the order of arrival. Other
    // threads do not wait.
    const scope = incoming.kind === 'ignored' ? null : incoming.scope
    await lockAdvisory(tx, `${tenant}/${publication}/deliveries/${scope ?? ''}`)
    const found = await rows(tx, 'publications').find(tenant, publication)
    // A publication that was deleted meanwhile takes nothing. The other publications still get the delivery.
    if (!found || (await store.deliveryOf(tenant, publication, external))) return
    const { status } = found
    const now = clock.now()
    const since = iso(now - hourMs)
    const isUnknown = incoming.kind === 'ignored' || isAsked(incoming)
    if (isUnknown && (await store.countSince(tenant, publication, since)) >= mostListed) return
    const isFlood =
      scope !== null &&
      (await store.countOfScope(tenant, { publication, scope, since })) >= mostOfThread
    const why = whyNotHeard(incoming, status, now)
    const heard = await withQuestions(tx, { tenant, publication }, incoming)
    const shown: JudgedDelivery = why ? { kind: 'ignored', why } : heard
    const id = newId('integration_delivery')
    await rows(tx, 'integration_deliveries').insert({
      tenant_id: tenant,
      id,
      publication_id: publication,
      external_id: external,
      begun: 0,
      session_id: null,
      number: number ?? null,
      ...unanswered,
      created_at: iso(now),
      ...(isFlood
        ? ignored(`more than ${mostOfThread} in an hour for ${scope}`)
        : stateOf(shown, now)),
    })
    if (refusal && !why) await tellRefusal(tx, found, { refusal, delivery: id, now })
    if (incoming.kind !== 'ignored') await learn(tx, found, incoming.learned)
    notifyIntegrations(tx)
  })
}

/** True where only the provider can say whether the delivery calls the agent. */
export const isAsked = (incoming: Exclude<Incoming, { kind: 'ignored' }>): boolean =>
  incoming.check !== undefined ||
  (incoming.kind === 'message' && incoming.wake !== undefined && !incoming.wake.opener)

/**
 * Adds the questions that the thread has been told. An approval counts for these questions, even when the session gets
 * it later.
 */
async function withQuestions(
  read: Reads,
  { tenant, publication }: { tenant: string; publication: string },
  incoming: JudgedDelivery,
): Promise<JudgedDelivery> {
  if (incoming.kind !== 'message' || parseCommand(incoming.text)?.kind !== 'answer') return incoming
  const thread = await integrationStore(read).threadOfScope(tenant, publication, incoming.scope)
  return { ...incoming, questions: toldCalls(thread?.notes ?? {}) }
}

/** A delivery after the check of limits and of the publication's state. `why`: the reason in this service's words. */
type JudgedDelivery = Incoming | { kind: 'ignored'; why: string }

type State = Pick<DeliveryRow, 'state' | 'reason' | 'scope' | 'author' | 'received' | 'due_ms'>

const ignored = (reason: string): State => ({
  state: 'ignored',
  reason,
  scope: null,
  author: null,
  received: null,
  due_ms: null,
})

function stateOf(incoming: JudgedDelivery, now: number): State {
  if (incoming.kind === 'ignored')
    return ignored('why' in incoming ? incoming.why : `${incoming.reason}: ${incoming.field}`)
  const { scope, author } = incoming
  const { learned: _, ...received } = incoming
  return { state: 'waiting', reason: null, scope, author, received, due_ms: now }
}
