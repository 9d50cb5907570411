/**
 * Sends the outputs of a session into the thread at the end of a turn. The files of a turn are one message at the
 * provider: uploaded files stay invisible until this message is posted.
 */
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import type { Database } from '../../../ground/database/database.ts'
import { outputStore } from '../../../sessions/rows/outputs.ts'
import type { AttemptParts, TellingOutcome } from './attempt.ts'
import { attemptTelling, isOk, toTellingOutcome, unreadableAnswer, judgeAnswer } from './attempt.ts'
import type {
  ExternalThread,
  FileUploads,
  Notes,
  ProviderCall,
  Telling,
  UploadTarget,
} from '../integration.ts'
import type { Upload } from './send.ts'

/** The most files of one turn. */
const mostFiles = 10
const largest = 25 * 1024 * 1024

export type FileSending = {
  uploads: FileUploads
  /** Origins that may receive bytes. Attack: an answer of the provider may name any address. */
  origins: readonly string[]
  scopes: readonly string[]
  upload: Upload
  keeping: BlobKeeping
  db: Database
  tenant: string
  prolong: () => Promise<void>
}

type Output = { id: string; name: string; size_bytes: number; blob_key: string | null }

export const isOfFiles = (telling: Telling): telling is Telling & { kind: 'files' } =>
  telling.kind === 'files'

/** Notes of the thread that every telling keeps. */
export const lastingNotes = ({ sent_file, unsent_files }: Notes): Notes => ({
  ...(sent_file !== undefined && { sent_file }),
  ...(unsent_files !== undefined && { unsent_files }),
})

/** Outputs that were not sent yet, oldest first: the ids of files sort by time. */
async function newOutputs(
  { db, tenant }: FileSending,
  { session, notes }: ExternalThread,
): Promise<Output[]> {
  const sent = String(notes['sent_file'] ?? '')
  const rows = await outputStore(db.read).shown(tenant, session)
  return rows
    .filter(({ id, blob_key }) => id > sent && blob_key !== null)
    .sort((one, other) => (one.id < other.id ? -1 : 1))
}

/**
 * `target.upload`: a file of the message that an earlier attempt began. `target.upload_to`: the newest output in that
 * message.
 */
export async function sendFiles(
  parts: AttemptParts,
  sending: FileSending,
  telling: Telling,
  { target: { upload, upload_to: to = null, ...target }, ...rest }: ExternalThread,
): Promise<TellingOutcome> {
  const thread = { ...rest, target }
  const files = await newOutputs(sending, thread)
  const last = files.at(-1)
  if (!last) return { kind: 'told', notes: thread.notes }
  const notes = { ...lastingNotes(thread.notes), sent_file: last.id }
  if (!sending.scopes.includes(sending.uploads.scope))
    return sayOnce(parts, telling, { thread, notes, scope: sending.uploads.scope })
  const fitting = files.filter(({ size_bytes }) => size_bytes <= largest).slice(0, mostFiles)
  const left = files.filter((each) => !fitting.includes(each))
  const text = left.length === 0 ? undefined : textAbout(left)
  if (fitting.length === 0) return say(parts, telling, { thread, text: text ?? '', notes })
  const earlier =
    typeof upload === 'string' ? await lookFor(parts, sending, { telling, thread, upload }) : false
  if (earlier === true) return { kind: 'told', notes: { ...notes, sent_file: to } }
  if (earlier !== false) return earlier
  await parts.start(target)
  const uploaded: { id: string; name: string }[] = []
  for (const file of fitting) {
    const done = await uploadOne(parts, sending, telling, file)
    if ('kind' in done) return done
    uploaded.push({ id: done.id, name: file.name })
  }
  await sending.prolong()
  await parts.start({ ...target, upload: uploaded[0]?.id ?? null, upload_to: last.id })
  const call = sending.uploads.callForAll(uploaded, text, thread)
  const { verdict, outcome } = await send(parts, telling, call)
  return verdict.kind === 'delivered'
    ? { kind: 'told', notes }
    : toTellingOutcome(parts, call, verdict, outcome)
}

const shownOutputs = 20

function textAbout(left: readonly Output[]): string {
  const lines = left.slice(0, shownOutputs).map(({ name, id, size_bytes }) => {
    const why = size_bytes > largest ? `larger than ${largest} bytes` : `a turn sends ${mostFiles}`
    return `${name} (${id}): ${why}`
  })
  const more = left.length - lines.length
  return ['Not sent:', ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

function sayOnce(
  parts: AttemptParts,
  telling: Telling,
  { thread, notes, scope }: { thread: ExternalThread; notes: Notes; scope: string },
): Promise<TellingOutcome> {
  const all = { ...notes, unsent_files: 1 }
  if (thread.notes['unsent_files'] === 1) return Promise.resolve({ kind: 'told', notes: all })
  const text = `Files of the agent are not sent here: the app lacks the scope \`${scope}\`. They are outputs of the session ${thread.session}.`
  return say(parts, telling, { thread, text, notes: all })
}

async function say(
  parts: AttemptParts,
  { id }: Telling,
  { thread, text, notes }: { thread: ExternalThread; text: string; notes: Notes },
): Promise<TellingOutcome> {
  const done = await attemptTelling(parts, { kind: 'reply', id, text }, thread)
  return done.kind === 'told' ? { kind: 'told', notes: { ...done.notes, ...notes } } : done
}

async function send(parts: AttemptParts, telling: Telling, call: ProviderCall) {
  const { channel, signal } = parts
  const outcome = await channel.send(channel.letter(telling, call), signal)
  return { outcome, verdict: judgeAnswer(parts, outcome) }
}

/** True when the message exists. An outcome when the provider's answer does not tell. */
async function lookFor(
  parts: AttemptParts,
  { uploads }: FileSending,
  { telling, thread, upload }: { telling: Telling; thread: ExternalThread; upload: string },
): Promise<boolean | TellingOutcome> {
  const call = uploads.searchFor(telling, thread)
  if (!call) return false
  const { outcome, verdict } = await send(parts, telling, call)
  const isThere = isOk(outcome) ? uploads.isThere(upload, outcome.body) : undefined
  if (isThere !== undefined) return isThere
  const read = verdict.kind === 'delivered' ? judgeAnswer(parts, unreadableAnswer) : verdict
  return toTellingOutcome(parts, call, read, outcome)
}

async function uploadOne(
  parts: AttemptParts,
  { uploads, origins, upload, keeping, prolong }: FileSending,
  telling: Telling,
  { name, size_bytes: size, blob_key }: Output,
): Promise<UploadTarget | TellingOutcome> {
  await prolong()
  const call = uploads.callForTarget({ name, size })
  const { outcome, verdict } = await send(parts, telling, call)
  if (verdict.kind !== 'delivered') return toTellingOutcome(parts, call, verdict, outcome)
  const found = isOk(outcome) ? uploads.targetOf(outcome.body) : undefined
  if (!found || !origins.includes(new URL(found.url).origin))
    return { kind: 'not_taken', reason: 'the provider named no place of its own for a file' }
  const blob = await keeping.blobs.get(blob_key ?? '')
  if (!blob) return { kind: 'not_taken', reason: 'a file was deleted meanwhile' }
  const answer = await upload(found.url, { body: blob.body, size }, parts.signal)
  if (isOk(answer)) return found
  const attempted = {
    attempts: parts.earlierAttempts + 1,
    random: Math.random(),
    nowMs: parts.now(),
  }
  const judged = parts.channel.adapter.verdict(answer, attempted)
  return toTellingOutcome(parts, call, judged, answer)
}
