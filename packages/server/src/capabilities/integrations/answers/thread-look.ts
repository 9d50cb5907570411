/** Makes the tellings of one look at a thread, one after the other, and stores the progress. */
import { iso } from '@steward/base/time.ts'
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import type { Queries } from '../../../ground/database/database.ts'
import { attemptTelling } from './attempt.ts'
import type { AnswerChannel, ChannelDeps, FoundChannel } from './channel.ts'
import { openChannel } from './channel.ts'
import { isOfFiles, lastingNotes, sendFiles } from './file-uploads.ts'
import type { Holds } from './holds.ts'
import type { FirstTelling } from '../../../ground/database/tables/integrations.ts'
import type { ExternalThread, Notes, Telling } from '../integration.ts'
import { questionNotes, withoutQuestion, withQuestion } from './questions.ts'
import type { AnswerEnd } from './settle.ts'
import { endsTurn, settleTelling } from './settle.ts'
import type { Upload } from './send.ts'
import type { ExternalThreadRow, PublicationRow } from '../store.ts'
import { integrationStore } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import { rows } from '../../../ground/database/rows.ts'

export type TellDeps = ChannelDeps & {
  keeping: BlobKeeping
  holds: Holds
  uploadToProvider: Upload
  /** The address of a session in the console; undefined where nobody has named the console's. */
  linkOf?: (session: string) => string | undefined
}

/** Limits of one look, so that a long backlog or a slow receiver does not keep others waiting. */
const mostCalls = 20
const mostLookMs = 10_000

/** `prolong`: prolongs the lease on the thread. */
export type Work = {
  row: ExternalThreadRow
  publication: PublicationRow
  prolong: () => Promise<void>
}

/** `thread`: the row as it was stored last. */
export type Look = Omit<Work, 'row'> & {
  deps: TellDeps
  context: JobContext
  receiver: string
  endMs: number
  thread: ExternalThreadRow
  calls: number
  known?: FoundChannel
  /** A refused token was replaced in this look. */
  isRenewed?: boolean
}

export const beginLook = (deps: TellDeps, context: JobContext, { row, ...work }: Work): Look => ({
  deps,
  context,
  ...work,
  thread: row,
  calls: 0,
  receiver: work.publication.installation_id ?? work.publication.id,
  endMs: deps.clock.now() + mostLookMs,
})

/**
 * `done`: the telling is made, or never will be. `later`: the receiver wants no request before `atMs`. `unserved`:
 * nothing is told until the publication is live again. `paused`: the next look continues.
 */
export type Progress = { kind: 'done' | 'unserved' | 'paused' } | { kind: 'later'; atMs: number }

const done: Progress = { kind: 'done' }

export async function tellFirst(look: Look): Promise<Progress> {
  const { first } = look.thread
  if (!first) return done
  const { target = look.thread.target, ...telling } = first
  return tell(look, telling, { after: { toldFirst: first }, target })
}

export async function tellNext(look: Look, telling: Telling): Promise<Progress> {
  // A telling that has begun is finished before any other telling.
  const before = look.thread.begun?.id === telling.id ? done : await tellFirst(look)
  if (before.kind !== 'done') return before
  if (telling.kind === 'begun') await beginTurn(look, telling.id)
  const { turn_target, target, told_parts } = look.thread
  return tell(look, telling, {
    after: { told_parts: told_parts + 1 },
    target: turn_target ?? target,
  })
}

/** The agent has read a message: until the turn ends, its tellings go where the message came from. */
async function beginTurn(look: Look, event: string): Promise<void> {
  const { context, thread } = look
  const { db, tenant } = context
  const { session_id: session } = thread
  if (session === null) return
  const asked = { session, event }
  const delivery = await integrationStore(db.read).unreadDelivery(tenant, asked)
  if (!delivery) return
  const turn_target = delivery.target ?? thread.turn_target
  look.thread = await storeTellingProgress(context, thread, { turn_target }, (tx) =>
    integrationStore(tx).noteRead(tenant, asked),
  )
}

/** `after`: the columns of the thread once the telling is made. `target`: where it goes. */
type ToldTelling = { after: Partial<ToldColumns>; target: Notes }

async function tell(look: Look, telling: Telling, told: ToldTelling): Promise<Progress> {
  const { after } = told
  const { deps, context: jobContext, publication, receiver } = look
  const { clock } = deps
  if (jobContext.signal.aborted || look.calls >= mostCalls || clock.now() >= look.endMs)
    return { kind: 'paused' }
  const held = heldUntil(deps, receiver)
  if (held !== undefined) return { kind: 'later', atMs: held }
  await look.prolong()
  look.known ??= await openChannel(deps, jobContext, publication)
  const { known } = look
  if (known.kind === 'silent') return tellNobody(look, telling, after)
  if (known.kind === 'again') return { kind: 'later', atMs: clock.now() + known.afterMs }
  if (known.kind === 'needs_reauth') {
    await needReauth(deps, jobContext, publication.id)
    return { kind: 'unserved' }
  }
  const progress = await tellBy(look, known.channel, { telling, ...told })
  return progress === 'unauthorized'
    ? tellWithNewToken(look, known.channel, { telling, ...told })
    : progress
}

/** The first refusal of a credential asks for a new one. The second one stops the publication. */
async function tellWithNewToken(
  look: Look,
  channel: AnswerChannel,
  told: ToldTelling & { telling: Telling },
): Promise<Progress> {
  const { deps, context, publication } = look
  const renewed = await renewChannel(look, channel)
  if (renewed?.kind === 'again') return { kind: 'later', atMs: deps.clock.now() + renewed.afterMs }
  const again = renewed?.kind === 'channel' && (await tellBy(look, renewed.channel, told))
  if (again && again !== 'unauthorized') return again
  await needReauth(deps, context, publication.id)
  look.thread = { ...look.thread, begun: null }
  return { kind: 'unserved' }
}

async function tellNobody(
  look: Look,
  telling: Telling,
  after: Partial<ToldColumns>,
): Promise<Progress> {
  const { context, thread } = look
  const end = { state: 'untold', reason: 'the publication has no answer_url' } as const
  look.thread =
    after.toldFirst || endsTurn(telling)
      ? await storeTellingProgress(context, thread, after, (tx) =>
          settleTelling(tx, thread, telling, end),
        )
      : { ...thread, told_parts: after.told_parts ?? thread.told_parts }
  return done
}

/** The channel with a new token; undefined where the app has no newer ones, or has got one in this look. */
async function renewChannel(
  look: Look,
  { token }: AnswerChannel,
): Promise<FoundChannel | undefined> {
  const { deps, context, publication } = look
  if (token === undefined || look.isRenewed) return undefined
  look.isRenewed = true
  look.known = await openChannel(deps, context, publication, token)
  return look.known
}

async function tellBy(
  look: Look,
  channel: AnswerChannel,
  { telling, after, target: place }: ToldTelling & { telling: Telling },
): Promise<Progress | 'unauthorized'> {
  const { deps, context: jobContext, receiver, prolong } = look
  const { clock } = deps
  const { db, tenant, signal } = jobContext
  const { session_id, scope } = look.thread
  const notes = withQuestion(telling, look.thread.notes)
  const { attempts, target } = begunOf(look.thread, telling, place)
  async function keep(columns: Partial<ToldColumns>, end?: AnswerEnd): Promise<void> {
    look.thread = await storeTellingProgress(jobContext, look.thread, columns, async (tx) => {
      if (end) await settleTelling(tx, look.thread, telling, end)
    })
  }
  let n = attempts
  const start = async (to: Notes): Promise<void> => {
    look.calls++
    await keep({ begun: { id: telling.id, attempts: ++n, target: to }, notes })
  }
  const given = { channel, signal, earlierAttempts: attempts, start, now: () => clock.now() }
  const link = session_id === null ? undefined : deps.linkOf?.(session_id)
  const external: ExternalThread = {
    session: session_id ?? '',
    scope,
    target,
    notes,
    nowMs: clock.now(),
    ...(link !== undefined && { link }),
  }
  const { keeping, uploadToProvider: upload } = deps
  const outcome =
    isOfFiles(telling) && channel.files
      ? await sendFiles(
          given,
          { ...channel.files, keeping, upload, db, tenant, prolong },
          telling,
          external,
        )
      : await attemptTelling(given, telling, external)
  switch (outcome.kind) {
    case 'again':
      if (outcome.heldMs !== undefined) deps.holds.set(receiver, clock.now() + outcome.heldMs)
      return { kind: 'later', atMs: clock.now() + outcome.afterMs }
    case 'needs_reauth':
      return 'unauthorized'
    case 'not_taken':
      logNotTaken(look, telling, outcome.reason)
      await keep(
        { ...after, notes: withoutQuestion(telling, notes), begun: null },
        { state: 'untold', reason: outcome.reason },
      )
      return done
    case 'told':
      await keep(
        {
          ...after,
          notes: notesAfter(telling, { ...lastingNotes(notes), ...questionNotes(notes) }, outcome),
          begun: null,
        },
        { state: 'told', ...(outcome.url !== undefined && { url: outcome.url }) },
      )
      return done
  }
}

/** `kept`: the notes that every telling keeps. */
const notesAfter = (telling: Telling, kept: Notes, { notes }: { notes: Notes }): Notes => {
  const all = { ...kept, ...notes }
  return telling.kind === 'action' ? withoutQuestion(telling, all) : all
}

/** Spreads the threads that waited for one receiver over time. The first refusal then holds the others back again. */
function heldUntil({ holds, clock }: TellDeps, receiver: string): number | undefined {
  const [until, now] = [holds.get(receiver) ?? 0, clock.now()]
  if (until > now) return until + Math.round(((until - now) / 4) * Math.random())
  holds.delete(receiver)
  return undefined
}

/** `target`: the target of the begun attempt, because a newer message may have another target. */
function begunOf({ begun }: ExternalThreadRow, { id }: Telling, target: Notes) {
  return begun?.id === id
    ? { attempts: begun.attempts, target: begun.target ?? target }
    : { attempts: 0, target }
}

function logNotTaken({ deps, publication, thread }: Look, { kind }: Telling, reason: string): void {
  deps.log.warn('an answer was not taken by its receiver, and is told no more', {
    publication_id: publication.id,
    session_id: thread.session_id,
    kind,
    reason,
  })
}

/** Somebody else changed the thread. The next look continues. */
export class ChangedError extends Error {}

const needReauth = ({ clock }: TellDeps, { db, tenant }: JobContext, id: string): Promise<void> =>
  db.write(async (tx) => {
    const kept = await rows(tx, 'publications').getForUpdate(tenant, id)
    if (kept.status !== 'live') return
    const change = { status: 'needs_reauth', updated_at: iso(clock.now()) } as const
    await rows(tx, 'publications').update(kept, change)
  })

/** `toldFirst`: the first telling that was made, which is over unless another has taken its place. */
type ToldColumns = Pick<
  ExternalThreadRow,
  'told_parts' | 'notes' | 'begun' | 'due_ms' | 'turn_target'
> & { toldFirst: Pick<FirstTelling, 'id' | 'kind'> }

/** Locks the thread. Throws when its session has changed, or when another process tells the thread. */
export async function getThreadForUpdate(
  tx: Queries,
  self: string,
  { tenant_id, id, session_id }: ExternalThreadRow,
): Promise<ExternalThreadRow> {
  const kept = await rows(tx, 'integration_threads').findForUpdate(tenant_id, id)
  if (kept?.owner !== self || kept.session_id !== session_id) throw new ChangedError(id)
  return kept
}

/** Stores progress and returns the stored row. A `first` telling that somebody wrote meanwhile is kept. */
export const storeTellingProgress = (
  { db }: JobContext,
  seen: ExternalThreadRow,
  columns: Partial<ToldColumns>,
  also?: (tx: Queries) => Promise<void>,
): Promise<ExternalThreadRow> =>
  db.write(async (tx) => {
    await also?.(tx)
    const kept = await getThreadForUpdate(tx, db.owners.self, seen)
    const { told_seq, told_parts, notes, begun } = seen
    const { toldFirst, ...told } = columns
    const { first } = kept
    // What has come of a delivery has the id of its acknowledgement.
    const isTold = toldFirst && first?.id === toldFirst.id && first.kind === toldFirst.kind
    return rows(tx, 'integration_threads').update(kept, {
      told_seq,
      told_parts,
      notes,
      begun,
      ...told,
      ...(isTold && { first: null }),
    })
  })
