/**
 * Files that an author sends with a message. They are fetched with the installation's token outside of any sandbox, and
 * stored before the session gets the message. The delivery notes each stored file, so that no file is stored twice.
 */
import type { Readable } from 'node:stream'
import type { Limits } from '../../../tenants/limits/limits.ts'
import type { BlobKeeping } from '../../../ground/blobs/blob-keeping.ts'
import type { WorkerInput } from '../../../ground/config/config.ts'
import { PlatformError } from '../../../ground/core/errors.ts'
import type { Queries } from '../../../ground/database/database.ts'
import type { IncomingFile } from '../../../ground/database/tables/integrations.ts'
import type { UploadLimits } from '../../../resources/files/upload.ts'
import { environmentStore } from '../../../resources/environments/store.ts'
import { toFilename, keepFile } from '../../../resources/files/upload.ts'
import type { AttachTarget } from '../../../sessions/resources/attach.ts'
import { attachResources, mostResources } from '../../../sessions/resources/attach.ts'
import type { ResourceKinds } from '../../../sessions/resources/kinds.ts'
import { resourceStore } from '../../../sessions/rows/resources.ts'
import { getApp } from '../installations/apps.ts'
import type { TokenDeps } from '../installations/token.ts'
import { findInstallationToken } from '../installations/token.ts'
import type { IncomingMessage } from '../integration.ts'
import type { Download } from '../answers/send.ts'
import type { DeliveryRow, PublicationRow } from '../store.ts'
import type { JobContext } from '../job-context.ts'
import { rows } from '../../../ground/database/rows.ts'

export type AttachmentDeps = TokenDeps & {
  keeping: BlobKeeping
  limits: Limits
  files: UploadLimits
  kinds: ResourceKinds
  workerInputs: readonly WorkerInput[]
  downloadFromProvider: Download
}

/** `path`: the path in the sandbox. */
export type Attachment = { name: string } & ({ file: string; path: string } | { problem: string })

/** The time for which an attachment is stored. The session has a copy of its own by then. */
const keptSeconds = 7 * 24 * 60 * 60
/** The most files of one message. */
const mostFiles = 10
/**
 * The most attempts to get a file that the provider does not give for now. After them the message goes without the
 * file.
 */
const mostWaits = 3
const downloadMs = 120_000

/** `session`: the session of the thread, when it accepts events. */
type Message = Pick<IncomingMessage, 'files'> & { seen: DeliveryRow; session: string | undefined }

/** Fetches and stores the files of a message. Throws when the provider must be asked again later. */
export async function keepAttachments(
  deps: AttachmentDeps,
  context: JobContext,
  publication: PublicationRow,
  { seen, files = [], session }: Message,
): Promise<Attachment[]> {
  if (files.length === 0) return []
  const kept: Attachment[] = []
  const refusal = await whyRefused(deps, context, publication, session)
  for (const [index, file] of files.entries()) {
    const name = nameOf(file, index)
    const found =
      file.file_id ??
      refusal ??
      (await keep(deps, context, publication, { seen, file, index, name }))
    kept.push(
      typeof found === 'string'
        ? { name, file: found, path: `/mnt/session/uploads/${seen.id}/${index + 1}/${name}` }
        : { name, ...found },
    )
  }
  return kept
}

/**
 * The reason why the session takes no files. Workers that cannot mount files get none: the agent would look for them.
 */
async function whyRefused(
  { workerInputs }: AttachmentDeps,
  { db, tenant }: JobContext,
  { environment_id }: PublicationRow,
  session: string | undefined,
): Promise<{ problem: string } | undefined> {
  const there = session ? await resourceStore(db.read).ofSession(tenant, session) : []
  if (there.length + mostFiles > mostResources)
    return { problem: 'the session has as many files as it may have' }
  if (workerInputs.includes('files')) return undefined
  const { kind } = await environmentStore(db.read).record(tenant, environment_id)
  return kind === 'self_hosted'
    ? { problem: 'the workers of the environment lay no files out' }
    : undefined
}

function nameOf({ name }: IncomingFile, index: number): string {
  try {
    return toFilename(name)
  } catch (error) {
    if (error instanceof PlatformError) return `file-${index + 1}`
    throw error
  }
}

type One = { seen: DeliveryRow; file: IncomingFile; index: number; name: string }

async function keep(
  deps: AttachmentDeps,
  context: JobContext,
  publication: PublicationRow,
  one: One,
): Promise<string | { problem: string }> {
  const { file, index } = one
  if (index >= mostFiles) return { problem: `a message brings ${mostFiles} files at most` }
  if (file.url === '') return { problem: 'it has no address at the provider' }
  if (file.size > deps.files.largest)
    return { problem: `it is larger than ${deps.files.largest} bytes` }
  const found = await fetchFile(deps, context, publication, file)
  if ('again' in found) return later(one, found.again)
  if ('problem' in found) return found
  let id = ''
  try {
    const part = { filename: one.name, mimeType: file.media_type, body: found.body }
    await keepFile(
      { ...deps, quotas: deps.limits.quotas, limits: deps.files },
      context,
      { ...part, expires_in_seconds: keptSeconds },
      (tx, made) => {
        id = made
        return note(tx, one, made)
      },
    )
    return id
  } catch (error) {
    if (error instanceof PlatformError) return { problem: error.message }
    if (found.body.errored) return later(one, 'the provider broke off')
    throw error
  } finally {
    drop(found.body)
  }
}

/** Throws, so that the delivery is tried again later. After the last attempt, returns the problem. */
function later({ seen }: One, why: string): { problem: string } {
  if (seen.begun + 1 < mostWaits) throw new Error(`a file of a message: ${why}`)
  return { problem: why }
}

type FetchedFile =
  | { body: Readable }
  | { problem: string }
  /** The reason why the provider does not give the file for now. */
  | { again: string }

/**
 * Fetches a file. Attack: a message may name any address, so the token is sent only to the provider's file addresses.
 */
async function fetchFile(
  deps: AttachmentDeps,
  { db, tenant, signal }: JobContext,
  { integration, installation_id }: PublicationRow,
  { url, media_type }: IncomingFile,
): Promise<FetchedFile> {
  const { filesUrl } = getApp(deps.apps, integration)
  const address = URL.canParse(url) ? new URL(url).href : ''
  if (filesUrl === undefined || !address.startsWith(filesUrl))
    return { problem: 'it lies elsewhere' }
  const row =
    installation_id === null
      ? undefined
      : await rows(db.read, 'installations').find(tenant, installation_id)
  if (!row) return { problem: 'the app is no longer installed' }
  const token = await findInstallationToken(deps, db, row, { signal })
  if (token.kind === 'refused') return { problem: 'the app has no valid token' }
  if (token.kind !== 'token') return { again: 'the provider gives no token' }
  const ending = AbortSignal.any([signal, AbortSignal.timeout(downloadMs)])
  const headers = { authorization: `Bearer ${token.token}` }
  const answer = await deps.downloadFromProvider(address, headers, ending)
  if ('error' in answer) return { again: answer.error }
  const { status, mediaType, body } = answer
  // To an app without access to files, Slack answers with its sign-in page.
  const isPage = mediaType === 'text/html' && media_type !== 'text/html'
  if (status === 200 && !isPage) return { body }
  drop(body)
  if (status === 429 || status >= 500) return { again: `the provider answers ${status}` }
  return {
    problem: isPage ? 'the app may not read files' : `the provider answers ${status}`,
  }
}

/** Destroying an unfinished body emits an error, which is ignored. */
const drop = (body: Readable): void => void body.on('error', () => {}).destroy()

/** Notes the stored file in its delivery. Throws when another process has noted the file or given the delivery. */
async function note(tx: Queries, { seen, index }: One, file_id: string): Promise<void> {
  const kept = await rows(tx, 'integration_deliveries').findForUpdate(seen.tenant_id, seen.id)
  const { received } = kept ?? {}
  const files = received?.kind === 'message' ? received.files : undefined
  if (!kept || received?.kind !== 'message' || !files?.[index] || files[index].file_id)
    throw new Error(`the delivery ${seen.id} is given by another process`)
  const noted = files.map((each, at) => (at === index ? { ...each, file_id } : each))
  await rows(tx, 'integration_deliveries').update(kept, { received: { ...received, files: noted } })
}

/** Adds the files of the context behind those of the message, once. */
export async function noteContextFiles(
  { db }: JobContext,
  {
    seen,
    received,
    more,
  }: { seen: DeliveryRow; received: IncomingMessage; more: readonly IncomingFile[] },
): Promise<{ seen: DeliveryRow; files: readonly IncomingFile[] }> {
  const { files = [] } = received
  const room = mostFiles - files.length
  const noted = seen.received?.kind === 'message' ? seen.received : undefined
  if (more.length === 0 || room <= 0 || noted?.hasContextFiles) return { seen, files }
  const all = [...files, ...more.slice(0, room)]
  return db.write(async (tx) => {
    const kept = await rows(tx, 'integration_deliveries').findForUpdate(seen.tenant_id, seen.id)
    if (kept?.received?.kind !== 'message')
      throw new Error(`the delivery ${seen.id} is given by another process`)
    const with_files = { ...kept.received, files: all, hasContextFiles: true } as const
    const row = await rows(tx, 'integration_deliveries').update(kept, { received: with_files })
    return { seen: row, files: all }
  })
}

/** The text about the attachments that follows the author's text; undefined without attachments. */
export function textAbout(attachments: readonly Attachment[]): string | undefined {
  if (attachments.length === 0) return undefined
  const lines = attachments.map((each) =>
    'problem' in each
      ? `- ${JSON.stringify(each.name)} could not be fetched: ${each.problem}`
      : `- ${each.path}`,
  )
  return ['Files that came with this request:', ...lines].join('\n')
}

/** Attaches the fetched files to the session. The caller has locked the session's row. */
export async function attachFetchedFiles(
  tx: Queries,
  { kinds }: AttachmentDeps,
  open: AttachTarget,
  attachments: readonly Attachment[],
): Promise<void> {
  const wanted = attachments.flatMap((each) =>
    'file' in each
      ? [{ resource: { type: 'file', file_id: each.file, mount_path: each.path } as const, at: '' }]
      : [],
  )
  await attachResources(tx, kinds, open, wanted)
}
