/**
 * Gives a delivery to the session of its thread, and creates the session if necessary. The events, the thread and the
 * end of the delivery are one transaction, so a delivery is given once, whenever a process dies.
 */
import { isSessionOver } from '../../../sessions/log/head.ts'
import type { ClientEvent } from '@steward/protocol/events.ts'
import { PlatformError, StorageError } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { releasedLease } from '../../../ground/database/lease.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import { lockAdvisory } from '../../../ground/database/lock.ts'
import { openCalls } from '../../../sessions/log/calls.ts'
import { postInUnits } from '../../../sessions/events/post.ts'
import type { OpenSessionDeps } from '../../../sessions/open.ts'
import { openSession } from '../../../sessions/open.ts'
import { auditActing } from '../../../tenants/audit/acting.ts'
import { withAppAccess } from '../installations/app-access.ts'
import type { Attachment, AttachmentDeps } from './attachments.ts'
import { attachFetchedFiles, keepAttachments, textAbout } from './attachments.ts'
import { checkOut, renewCheckout } from './checkout.ts'
import { headOfSession } from '../session.ts'
import type { SessionEvents } from './session-events.ts'
import { EarlyPressError, buildSessionEvents } from './session-events.ts'
import type { Incoming } from '../integration.ts'
import { buildThreadSessionRequest } from '../publications.ts'
import type { DeliveryRow, PublicationRow, ExternalThreadRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import { isInUse } from '../../../tenants/workspaces/in-use.ts'
import { notifyIntegrations } from '../topics.ts'
import { rows } from '../../../ground/database/rows.ts'

export type GivingDeps = OpenSessionDeps & AttachmentDeps
type AllowedDelivery = Exclude<Incoming, { kind: 'ignored' }>

const mostAttempts = 6
const backoffMs = (begun: number): number => 1000 * 4 ** begun
/**
 * The wait before a pressed button is tried again. The answer about the button's message usually arrives within
 * moments, unless the answer was lost.
 */
const earlyMs = 1000

/** Another process gave the delivery meanwhile, or an earlier delivery of the thread still waits. */
class OvertakenError extends Error {}

/** The session ended, or the publication was paused, after the process read them. */
class OutdatedError extends Error {}

type Turn = {
  delivery: DeliveryRow
  thread: ExternalThreadRow | undefined
  publication: PublicationRow
}

/** Locks the delivery whose turn it is. Throws when it is not this delivery's turn. */
async function takeTurn(tx: Queries, seen: DeliveryRow): Promise<Turn> {
  const { tenant_id: tenant, id, publication_id, scope } = seen
  const store = integrationStore(tx)
  await lockAdvisory(tx, `${tenant}/${publication_id}/${scope}`)
  const delivery = await rows(tx, 'integration_deliveries').findForUpdate(tenant, id)
  if (!delivery || delivery.due_ms === null || scope === null) throw new OvertakenError(id)
  const oldest = await store.oldestWaiting(tenant, publication_id, scope)
  if (oldest?.id !== id) throw new OvertakenError(id)
  const publication = await rows(tx, 'publications').get(tenant, publication_id)
  return {
    delivery,
    publication,
    thread: await store.findThreadForUpdate(tenant, publication_id, scope),
  }
}

/** The session of the thread; undefined when there is none, or when it has ended. */
async function openSessionOf(
  read: Reads,
  tenant: string,
  thread: ExternalThreadRow | undefined,
): Promise<string | undefined> {
  const session = thread?.session_id ?? null
  const head = await headOfSession(read, tenant, session)
  return !head || isSessionOver(head) ? undefined : (session ?? undefined)
}

async function eventsFor(
  read: Reads,
  {
    tenant,
    session,
    thread,
  }: { tenant: string; session: string | undefined; thread: ExternalThreadRow | undefined },
  received: AllowedDelivery,
): Promise<SessionEvents> {
  if (session === undefined || !thread) return buildSessionEvents(received, undefined)
  const calls = await openCalls(read, tenant, session)
  return buildSessionEvents(received, { notes: thread.notes, calls })
}

/** Adds a text behind the text of a message, or of an answer to a question. */
function withText(event: ClientEvent, added: string | undefined): ClientEvent {
  if (added === undefined) return event
  const text = { type: 'text', text: added } as const
  if (event.type === 'user.message') return { ...event, content: [...event.content, text] }
  return event.type === 'user.custom_tool_result'
    ? { ...event, content: [...(event.content ?? []), text] }
    : event
}

/**
 * `waits`: another process has the delivery, or an earlier delivery comes first. `again`: try again at `at`. `ended`:
 * the delivery was given to a session, ignored, or has failed.
 */
export type DispatchOutcome = { kind: 'ended' | 'waits' } | { kind: 'again'; at: number }

export async function dispatchDelivery(
  deps: GivingDeps,
  context: JobContext,
  id: string,
): Promise<DispatchOutcome> {
  const { db, tenant } = context
  const seen = await rows(db.read, 'integration_deliveries').find(tenant, id)
  if (!seen?.received || seen.due_ms === null) return { kind: 'waits' }
  try {
    await give(deps, context, seen, seen.received)
    return { kind: 'ended' }
  } catch (error) {
    if (error instanceof OvertakenError) return { kind: 'waits' }
    if (error instanceof OutdatedError) return { kind: 'again', at: deps.clock.now() }
    return fail(deps, context, seen, error)
  }
}

/** The reason why deliveries for the publication are ignored; undefined when they are given to sessions. */
async function whyUnserved(
  read: Reads,
  { tenant_id: tenant, status, installation_id: id }: PublicationRow,
): Promise<string | undefined> {
  if (status === 'paused') return 'the publication is paused'
  if (status === 'live' || id === null) return undefined
  const installation = await rows(read, 'installations').find(tenant, id)
  return installation?.status === 'revoked' ? 'the app is no longer installed' : undefined
}

async function give(
  deps: GivingDeps,
  context: JobContext,
  seen: DeliveryRow,
  received: AllowedDelivery,
): Promise<void> {
  const { clock } = deps
  const { db, tenant } = context
  const { publication_id: publication } = seen
  const { scope } = received
  const known = await integrationStore(db.read).threadOfScope(tenant, publication, scope)
  const session = await openSessionOf(db.read, tenant, known)
  const plain = await eventsFor(db.read, { tenant, session, thread: known }, received)
  let attachments: Attachment[] = []
  let turn: Turn | undefined
  async function take(tx: Queries): Promise<void> {
    turn = await takeTurn(tx, seen)
    const isAnother = (await openSessionOf(tx, tenant, turn.thread)) !== session
    if (isAnother || (await whyUnserved(tx, turn.publication)) !== undefined)
      throw new OutdatedError(seen.id)
  }
  async function keep(tx: Queries, of: SessionColumns): Promise<void> {
    if (!turn) throw new Error(`delivery ${seen.id} was not taken`)
    const { session_id } = of
    await attachFetchedFiles(
      tx,
      deps,
      { tenant, session: session_id, now: clock.now() },
      attachments,
    )
    await keepThread(tx, turn, received, { ...of, now: clock.now() })
    const end = { state: 'delivered', received: null, due_ms: null, session_id } as const
    await endDelivery(tx, turn.delivery, end)
  }
  const row = await rows(db.read, 'publications').get(tenant, publication)
  const unserved = (await isInUse(deps.databases, tenant))
    ? await whyUnserved(db.read, row)
    : 'the workspace is archived'
  if (unserved !== undefined || plain.kind === 'ignored') {
    const reason = unserved ?? (plain.kind === 'ignored' ? plain.reason : null)
    await db.write(async (tx) => {
      const { delivery } = await takeTurn(tx, seen)
      const end = { state: 'ignored', reason, received: null, due_ms: null } as const
      await endDelivery(tx, delivery, end)
    })
    return
  }
  const actor = { type: 'publication', id: row.id, name: row.integration } as const
  const served = await withAppAccess(deps, context, row)
  if (received.kind === 'message')
    attachments = await keepAttachments(deps, context, row, {
      seen,
      files: received.files,
      session,
    })
  const hint = session === undefined ? deps.apps.get(row.integration)?.hint : undefined
  const events = plain.events.map((event) =>
    withText(withText(event, textAbout(attachments)), hint),
  )
  if (session !== undefined) {
    if (known) await renewCheckout(deps, context, known)
    const target = { tenant, session, clock }
    await postInUnits(db, target, events, async (tx) => {
      await take(tx)
      await keep(tx, { session_id: session })
      await auditActing(tx, tenant, { thing: actor, action: 'session.post', session }, clock.now())
    })
    return
  }
  const first = events.filter((event) => event.type === 'user.message')
  const target = received.kind === 'message' ? received.target : {}
  const { resource, token_due_ms = null } = (await checkOut(deps, context, served, target)) ?? {}
  const request = buildThreadSessionRequest(served, { scope, events: first })
  const asked = { ...request, resources: resource ? [resource] : [] }
  let made = ''
  await openSession({ ...deps, actor }, { db, tenant }, asked, {
    async make(tx, { id }) {
      await take(tx)
      made = id
      return {}
    },
    finish: (tx) => keep(tx, { session_id: made, token_due_ms }),
  })
}

/** Now the next delivery of the thread may be due. */
async function endDelivery(
  tx: Queries,
  delivery: DeliveryRow,
  end: Partial<DeliveryRow>,
): Promise<void> {
  await rows(tx, 'integration_deliveries').update(delivery, end)
  notifyIntegrations(tx)
}

const newThread = (
  {
    tenant_id,
    publication_id,
    scope,
  }: Pick<ExternalThreadRow, 'tenant_id' | 'publication_id' | 'scope'>,
  now: number,
): ExternalThreadRow => ({
  tenant_id,
  id: newId('integration_thread'),
  publication_id,
  scope,
  session_id: null,
  target: {},
  notes: {},
  first: null,
  told_seq: 0,
  told_parts: 0,
  begun: null,
  token_due_ms: null,
  due_ms: now,
  ...releasedLease,
})

/**
 * A due time that differs from the time before, so that a process which is telling the thread notices the change. A
 * receiver that asked for a wait still gets its wait.
 */
function wokenAt({ begun, due_ms }: ExternalThreadRow, now: number): number {
  if (begun !== null && due_ms !== null && due_ms > now) return due_ms + 1
  return due_ms === now ? now - 1 : now
}

async function saveThread(
  tx: Queries,
  { thread, delivery }: Turn,
  received: AllowedDelivery,
  { now, ...columns }: Partial<ExternalThreadRow> & { now: number },
): Promise<void> {
  const { scope } = received
  const kept =
    thread ?? (await rows(tx, 'integration_threads').insert(newThread({ ...delivery, scope }, now)))
  await rows(tx, 'integration_threads').update(kept, { ...columns, due_ms: wokenAt(kept, now) })
}

/** `token_due_ms`: the time from which the repository of a new session needs a new token. */
type SessionColumns = { session_id: string; token_due_ms?: number | null }

/** Stores the thread. With a new session the thread starts again from the beginning of the session's log. */
function keepThread(
  tx: Queries,
  turn: Turn,
  received: AllowedDelivery,
  { session_id, token_due_ms = null, now }: SessionColumns & { now: number },
): Promise<void> {
  const { thread, delivery } = turn
  const isSame = thread?.session_id === session_id
  const anew = isSame
    ? {}
    : { session_id, told_seq: 0, told_parts: 0, notes: {}, begun: null, token_due_ms }
  const accepted = { kind: 'accepted', id: delivery.id } as const
  const first = thread?.first?.kind === 'error' ? thread.first : accepted
  const told = received.kind === 'message' ? { target: received.target, first } : {}
  return saveThread(tx, turn, received, { ...anew, ...told, now })
}

/** Tells the people of the thread about a caller's mistake. After any other error the delivery is tried again. */
async function fail(
  { clock, log }: GivingDeps,
  { db }: JobContext,
  seen: DeliveryRow,
  error: unknown,
): Promise<DispatchOutcome> {
  const isMistake = error instanceof PlatformError && !(error instanceof StorageError)
  const isEarly = error instanceof EarlyPressError
  if (!isMistake && !isEarly)
    log.error('a delivery could not be given to a session', { error, delivery_id: seen.id })
  return db.write(async (tx): Promise<DispatchOutcome> => {
    const turn = await takeTurn(tx, seen).catch((other: unknown) => {
      if (other instanceof OvertakenError || other instanceof PlatformError) return undefined
      throw other
    })
    if (!turn) return { kind: 'waits' }
    const { delivery } = turn
    const begun = delivery.begun + 1
    const now = clock.now()
    if (!isMistake && begun < mostAttempts) {
      const at = now + (isEarly ? earlyMs * begun : backoffMs(begun))
      await rows(tx, 'integration_deliveries').update(delivery, { begun, due_ms: at })
      return { kind: 'again', at }
    }
    const message = isMistake || isEarly ? error.message : "the server's log has the reason"
    const end = { state: 'failed', reason: message, received: null, due_ms: null, begun } as const
    await endDelivery(tx, delivery, end)
    const { received } = seen
    if (received?.kind === 'message') {
      const first = { kind: 'error', id: delivery.id, message } as const
      await saveThread(tx, turn, received, { target: received.target, first, now })
    }
    return { kind: 'ended' }
  })
}
