/**
 * Gives a delivery to the session of its thread, and creates the session if necessary. The events, the thread and the
 * end of the delivery are one transaction, so a delivery is given once, whenever a process dies.
 */
import type { ClientEvent } from '@steward/protocol/events.ts'
import { PlatformError, StorageError } from '../../../ground/core/errors.ts'
import type { Queries, Reads } from '../../../ground/database/database.ts'
import type { IncomingFile } from '../../../ground/database/tables/integrations.ts'
import { openCalls } from '../../../sessions/log/calls.ts'
import { newestWaitingMessage } from '../../../sessions/log/inbox.ts'
import { postInUnits } from '../../../sessions/events/post.ts'
import type { OpenSessionDeps } from '../../../sessions/open.ts'
import { openSession } from '../../../sessions/open.ts'
import { auditActing } from '../../../tenants/audit/acting.ts'
import { withAppAccess } from '../installations/app-access.ts'
import type { HeardDelivery } from './allowed.ts'
import type { Attachment, AttachmentDeps } from './attachments.ts'
import { attachFetchedFiles, keepAttachments, noteContextFiles, textAbout } from './attachments.ts'
import { checkNoFork } from './became-fork.ts'
import { planCheckout, renewCheckout } from './checkout.ts'
import type { Gathered, GatherDeps } from './gather.ts'
import { gatherContext } from './gather.ts'
import { tellRefusal, whyRefused } from './refusals.ts'
import { whyNotWoken } from './wakes.ts'
import type { SessionEvents } from './session-events.ts'
import { EarlyPressError, buildSessionEvents, noSession } from './session-events.ts'
import type { SessionColumns } from './threads.ts'
import { acknowledge, keepThread, saveThread, tellUsedUp } from './threads.ts'
import type { DeliveryTurn } from './turns.ts'
import { endDelivery, openSessionOf, OutdatedError, OvertakenError, takeTurn } from './turns.ts'
import { buildThreadSessionRequest } from '../publications.ts'
import { whyUnserved } from '../unserved.ts'
import type { DeliveryRow, PublicationRow, ExternalThreadRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import { isInUse } from '../../../tenants/workspaces/in-use.ts'
import { rows } from '../../../ground/database/rows.ts'

export type GivingDeps = OpenSessionDeps & AttachmentDeps & GatherDeps

const mostAttempts = 6
const backoffMs = (begun: number): number => 1000 * 4 ** begun
/**
 * The wait before a pressed button is tried again. The answer about the button's message usually arrives within
 * moments, unless the answer was lost.
 */
const earlyMs = 1000

async function eventsFor(
  read: Reads,
  {
    tenant,
    session,
    thread,
  }: { tenant: string; session: string | undefined; thread: ExternalThreadRow | undefined },
  received: HeardDelivery,
  around: Gathered | undefined,
): Promise<SessionEvents> {
  if (session === undefined || !thread) return buildSessionEvents(received, undefined, around)
  const calls = await openCalls(read, tenant, session)
  return buildSessionEvents(received, { notes: thread.notes, calls }, around)
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

/**
 * Why the delivery calls no agent. `isStranger`: its author may not. `isUsedUp`: the agent was woken too often. A delivery
 * that is `uncounted` says nothing of how much comes for the thread.
 */
type IgnoredWhy = { reason: string; isStranger?: boolean; isUsedUp?: boolean; uncounted?: boolean }

async function whyIgnored(
  deps: GivingDeps,
  context: JobContext,
  { seen, received, publication, session, thread }: Giving & JudgedThread,
): Promise<IgnoredWhy | undefined> {
  const { db, tenant } = context
  const unserved = (await isInUse(deps.databases, tenant))
    ? await whyUnserved(db.read, publication)
    : 'the workspace is archived'
  if (unserved !== undefined) return { reason: unserved }
  const refused = await whyRefused(deps, context, publication, { received, begun: seen.begun })
  if (refused !== undefined) return { reason: refused, isStranger: true }
  const isLate = session === undefined && received.kind === 'message' && received.isFollowUp
  if (isLate) return { reason: noSession }
  const asked = { received, thread, session, begun: seen.begun }
  const unwoken = await whyNotWoken(deps, context, publication, asked)
  return unwoken && { ...unwoken, uncounted: true }
}

type JudgedThread = { session: string | undefined; thread: ExternalThreadRow | undefined }

type Giving = { seen: DeliveryRow; received: HeardDelivery; publication: PublicationRow }

async function give(
  deps: GivingDeps,
  context: JobContext,
  seen: DeliveryRow,
  received: HeardDelivery,
): Promise<void> {
  const { db, tenant } = context
  const { publication_id, scope } = seen
  const publication = await rows(db.read, 'publications').get(tenant, publication_id)
  const known = await integrationStore(db.read).threadOfScope(tenant, publication_id, scope ?? '')
  const session = await openSessionOf(db.read, tenant, known)
  const giving = { seen, received, publication }
  const ignored = await whyIgnored(deps, context, { ...giving, session, thread: known })
  if (ignored) return endIgnored(deps, context, giving, ignored)
  if (session !== undefined && known)
    await checkNoFork(deps, context, publication, { received, thread: known })
  const since = session === undefined ? null : sinceOf(known)
  const noted = await acknowledgeOnce(deps, context, giving)
  const around =
    noted.received.kind === 'message'
      ? await gatherContext(deps, context, publication, {
          message: noted.received,
          since,
          begun: seen.begun,
        })
      : undefined
  const plain = await eventsFor(db.read, { tenant, session, thread: known }, received, around)
  if (plain.kind === 'ignored') return endIgnored(deps, context, giving, { reason: plain.reason })
  const served = await withAppAccess(deps, context, publication)
  const attachments = await attachmentsOf(deps, context, publication, {
    ...noted,
    session,
    more: around?.files ?? [],
  })
  const hint = session === undefined ? hintFor(deps, publication, received) : undefined
  const events = plain.events.map((event) =>
    withText(withText(event, textAbout(attachments)), hint),
  )
  const given = {
    ...giving,
    publication: served,
    events,
    attachments,
    missing: around?.missing,
  }
  if (session === undefined) return giveToNew(deps, context, given)
  if (known) await renewFor(deps, context, known, events)
  return giveToOpen(deps, context, given, session)
}

/**
 * A code host that gives no token keeps nobody from stopping an agent, or from answering its question. The token is
 * tried again while the session runs.
 */
async function renewFor(
  deps: GivingDeps,
  context: JobContext,
  known: ExternalThreadRow,
  events: readonly ClientEvent[],
): Promise<void> {
  const types = events.map(({ type }) => type)
  if (types.every((type) => type === 'user.interrupt')) return
  try {
    await renewCheckout(deps, context, known)
  } catch (error) {
    if (types.some((type) => type !== 'user.tool_confirmation')) throw error
    deps.log.warn('a token of git could not be renewed', { error, thread_id: known.id })
  }
}

const hintFor = (
  { apps }: GivingDeps,
  { integration }: PublicationRow,
  received: HeardDelivery,
): string | undefined =>
  received.kind === 'message' ? apps.get(integration)?.hintFor?.(received.target) : undefined

const sinceOf = (thread: ExternalThreadRow | undefined): string | null => {
  const since = thread?.target['since']
  return typeof since === 'string' ? since : null
}

/** Acknowledges a message, unless an earlier attempt has. */
async function acknowledgeOnce(
  { clock }: GivingDeps,
  { db }: JobContext,
  { seen, received }: Giving,
): Promise<{ seen: DeliveryRow; received: HeardDelivery }> {
  if (received.kind !== 'message' || seen.received?.isAcknowledged) return { seen, received }
  const noted = await db.write(async (tx) =>
    acknowledge(tx, await takeTurn(tx, seen), received, clock.now()),
  )
  return { seen: noted, received: noted.received ?? received }
}

/** Fetches the files of a message, and those around it. */
async function attachmentsOf(
  deps: GivingDeps,
  context: JobContext,
  publication: PublicationRow,
  {
    seen,
    received,
    session,
    more,
  }: {
    seen: DeliveryRow
    received: HeardDelivery
    session: string | undefined
    more: readonly IncomingFile[]
  },
): Promise<Attachment[]> {
  if (received.kind !== 'message') return []
  const noted = await noteContextFiles(context, { seen, received, more })
  return keepAttachments(deps, context, publication, {
    seen: noted.seen,
    files: noted.files,
    session,
  })
}

type SessionDelivery = Giving & {
  events: ClientEvent[]
  attachments: readonly Attachment[]
  missing: string[] | undefined
}

/** Ends the delivery in the unit that gives its events to the session. `event`: the event that has the message. */
async function keepGiven(
  tx: Queries,
  deps: GivingDeps,
  { turn, given, event }: { turn: DeliveryTurn; given: SessionDelivery; event: string | undefined },
  of: SessionColumns,
): Promise<void> {
  const { received, attachments, missing = [] } = given
  const { tenant_id: tenant } = turn.delivery
  const now = deps.clock.now()
  const { session_id } = of
  await attachFetchedFiles(tx, deps, { tenant, session: session_id, now }, attachments)
  await keepThread(tx, turn, received, { ...of, now })
  await endDelivery(tx, turn.delivery, {
    state: 'delivered',
    received: null,
    due_ms: null,
    session_id,
    event_id: event ?? null,
    target: received.kind === 'message' ? received.target : null,
    missing: missing.length > 0 ? missing : null,
    answer_state: event === undefined ? 'working' : 'waiting',
  })
}

/** Locks the delivery, and throws where what was read before has changed. */
async function takeUnchanged(
  tx: Queries,
  seen: DeliveryRow,
  session: string | undefined,
): Promise<DeliveryTurn> {
  const turn = await takeTurn(tx, seen)
  const isAnother = (await openSessionOf(tx, seen.tenant_id, turn.thread)) !== session
  if (isAnother || (await whyUnserved(tx, turn.publication)) !== undefined)
    throw new OutdatedError(seen.id)
  return turn
}

const actorOf = ({ id, integration }: PublicationRow) =>
  ({ type: 'publication', id, name: integration }) as const

async function giveToOpen(
  deps: GivingDeps,
  { db, tenant }: JobContext,
  given: SessionDelivery,
  session: string,
): Promise<void> {
  const { clock } = deps
  const { seen, received, publication, events } = given
  let turn: DeliveryTurn | undefined
  await postInUnits(
    db,
    { tenant, session, clock },
    events,
    async (tx) => {
      turn = await takeUnchanged(tx, seen, session)
      const acting = { thing: actorOf(publication), action: 'session.post', session } as const
      await auditActing(tx, tenant, acting, clock.now())
    },
    async (tx, posted) => {
      if (!turn) throw new Error(`delivery ${seen.id} was not taken`)
      const event = posted.find(({ type }) => type === 'user.message')?.id
      await keepGiven(tx, deps, { turn, given, event }, { session_id: session })
      // An interrupt that finds nothing to stop is not stored, and so told apart.
      if (posted.length === 0) await confirmStop(tx, seen, received)
    },
  )
}

async function giveToNew(
  deps: GivingDeps,
  context: JobContext,
  given: SessionDelivery,
): Promise<void> {
  const { db, tenant } = context
  const { seen, received, publication, events } = given
  const target = received.kind === 'message' ? received.target : {}
  const { resource, token_due_ms, readsOnly, note } = await planCheckout(
    deps,
    context,
    publication,
    target,
  )
  const first = events
    .map((event) => withText(event, note))
    .filter((event) => event.type === 'user.message')
  const asking = { scope: received.scope, events: first, readsOnly }
  const request = buildThreadSessionRequest(publication, asking)
  const asked = { ...request, resources: resource ? [resource] : [] }
  let turn: DeliveryTurn | undefined
  let made = ''
  await openSession({ ...deps, actor: actorOf(publication) }, { db, tenant }, asked, {
    async make(tx, { id }) {
      turn = await takeUnchanged(tx, seen, undefined)
      made = id
      return {}
    },
    async finish(tx) {
      if (!turn) throw new Error(`delivery ${seen.id} was not taken`)
      const event = await newestWaitingMessage(tx, { tenant, session: made })
      const columns = {
        session_id: made,
        token_due_ms,
        reads_only: readsOnly ? (1 as const) : null,
      }
      await keepGiven(tx, deps, { turn, given, event }, columns)
    },
  })
}

/** Tells the thread that nothing runs any more, where an interrupt found nothing to stop. */
async function confirmStop(
  tx: Queries,
  { tenant_id, publication_id, id }: DeliveryRow,
  { scope }: HeardDelivery,
): Promise<void> {
  const thread = await integrationStore(tx).findThreadForUpdate(tenant_id, publication_id, scope)
  // The thread was woken in this unit before. A second time could be that of an earlier look.
  if (thread)
    await rows(tx, 'integration_threads').update(thread, { first: { kind: 'stopped', id } })
}

/** Ends a delivery that calls no agent after all. */
async function endIgnored(
  { clock }: GivingDeps,
  { db }: JobContext,
  { seen, received, publication }: Giving,
  { reason, isStranger = false, isUsedUp = false, uncounted = isStranger }: IgnoredWhy,
): Promise<void> {
  await db.write(async (tx) => {
    const turn = await takeTurn(tx, seen)
    const { delivery } = turn
    const end = { state: 'ignored', reason, received: null, due_ms: null } as const
    await endDelivery(tx, delivery, uncounted ? { ...end, scope: null } : end)
    if (isUsedUp) await tellUsedUp(tx, turn, received, clock.now())
    if (!isStranger || received.kind !== 'message') return
    const { scope, author, target, isFollowUp, wake } = received
    // People talk to each other, and review: who has not called the agent is refused nothing.
    if (isFollowUp || wake) return
    const refusal = { scope, author, target }
    await tellRefusal(tx, publication, { refusal, delivery: delivery.id, now: clock.now() })
  })
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
