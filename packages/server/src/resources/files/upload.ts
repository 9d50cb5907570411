/** Streams a file from a form into the blob store and writes its row. The file is never in memory as a whole. */
import { limitBytes } from '@steward/base/byte-limit.ts'
import { FileFields } from '@steward/protocol/files.ts'
import type { FileMetadata } from '@steward/protocol/files.ts'
import { runUnaudited } from '../../ground/core/security/audited-call.ts'
import type { BlobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { invalid, PlatformError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { iso } from '@steward/base/time.ts'
import type { Queries, TenantRef } from '../../ground/database/database.ts'
import { parseInput } from '../../ground/http/bodies/body.ts'
import { readForm } from '../../ground/http/bodies/form.ts'
import type { FormPart } from '../../ground/http/bodies/form.ts'
import type { RawRequest } from '../../ground/http/route.ts'
import type { Ground } from '../../ground/ground.ts'
import type { Quotas } from '../../tenants/limits/quotas.ts'
import type { FileRow } from './store.ts'
import { fileStore, showFile } from './store.ts'

export type UploadLimits = {
  /** Bytes of one file. */
  largest: number
  uploadsDownloadable: boolean
}

/**
 * Throws not_found for another tenant's session, and invalid for a session that takes no files. Keeps the session
 * unchanged until the commit.
 */
export type LockSession = (tx: Queries, tenant: string, session: string) => Promise<void>

export type FileStorage = Ground & { keeping: BlobKeeping; limits: UploadLimits; quotas: Quotas }
export type UploadDeps = FileStorage & { holdSession: LockSession }

/** Bytes of a form besides its file. */
const aroundFile = 64 * 1024

/** Checks the fields of a form, of which some may be missing yet. Throws for a field that no file has. */
type FieldsOf = (given: Record<string, string>) => FileFields

type UploadedFile = Pick<FileRow, 'id' | 'filename' | 'mime_type' | 'size_bytes' | 'sha256'> & {
  key: string
}

/** Writes the bytes first and the row afterwards: a file that has an id has bytes. */
export async function uploadFile(
  deps: UploadDeps,
  { db, tenant }: TenantRef,
  raw: RawRequest,
  fieldsOf: FieldsOf = (given) => parseInput(FileFields, given),
): Promise<FileMetadata> {
  const { keeping, limits } = deps
  const header = (name: string) =>
    raw.headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? ''
  if (Number(header('content-length')) > limits.largest + aroundFile) throw tooLarge(limits)
  let stored: UploadedFile | undefined
  try {
    const form = { contentType: header('content-type'), body: raw.body }
    const { fields } = await readForm(form, async (part, before) => {
      await checkEarly(deps, { db, tenant }, fieldsOf(before))
      stored = await store(deps, tenant, part)
    })
    const { session_id, expires_in_seconds } = fieldsOf(fields)
    if (!stored) throw invalid('file: is required')
    const row = rowOf(deps, tenant, stored, { session_id, expires_in_seconds })
    const insert = await insertion(deps, tenant, row)
    await db.write(async (tx) => {
      if (session_id !== undefined) await deps.holdSession(tx, tenant, session_id)
      await insert(tx)
    })
    return showFile(row)
  } catch (error) {
    if (stored) await keeping.abandon(tenant, stored.key)
    throw error
  }
}

type ServiceFile = Omit<FormPart, 'name'> & Pick<FileFields, 'expires_in_seconds'>

/** A file whose bytes are there, and whose row is not. `keep` writes the row in the unit of what names the file. */
export type StagedFile = {
  id: string
  keep: (tx: Queries) => Promise<void>
  /** Removes the bytes where no row came to hold them. A job does so after a crash. */
  abandon: () => Promise<void>
}

export async function stageFile(
  deps: FileStorage,
  tenant: string,
  part: ServiceFile,
): Promise<StagedFile> {
  const stored = await store(deps, tenant, part)
  const abandon = () => deps.keeping.abandon(tenant, stored.key)
  try {
    const row = rowOf(deps, tenant, stored, part)
    const insert = await insertion(deps, tenant, row)
    return { id: row.id, keep: insert, abandon }
  } catch (error) {
    await abandon()
    throw error
  }
}

/**
 * Stores a file of the service itself. `also` runs in the unit of the row, before the row is written. When `also`
 * throws, nothing is stored.
 */
export async function keepFile(
  deps: FileStorage,
  { db, tenant }: TenantRef,
  part: ServiceFile,
  also: (tx: Queries, id: string) => Promise<void>,
): Promise<void> {
  const { id, keep, abandon } = await stageFile(deps, tenant, part)
  try {
    await db.write(async (tx) => {
      await also(tx, id)
      await keep(tx)
    })
  } catch (error) {
    await abandon()
    throw error
  }
}

function rowOf(
  { clock, limits }: FileStorage,
  tenant: string,
  { key, ...file }: UploadedFile,
  { session_id, expires_in_seconds }: FileFields,
): FileRow {
  const now = clock.now()
  return {
    ...file,
    tenant_id: tenant,
    session_id: session_id ?? null,
    origin: 'upload',
    blob_key: key,
    downloadable: limits.uploadsDownloadable ? 1 : 0,
    expires_at: expires_in_seconds === undefined ? null : iso(now + expires_in_seconds * 1000),
    created_at: iso(now),
  }
}

/** Writes the row, in a unit that comes later. */
async function insertion(
  { keeping, quotas }: FileStorage,
  tenant: string,
  row: FileRow & { blob_key: string | null },
): Promise<(tx: Queries) => Promise<void>> {
  const checkRoom = await quotas.room(tenant, 'stored_bytes')
  return async (tx) => {
    await checkRoom(tx, row.size_bytes)
    if (row.blob_key !== null) await keeping.hold(tx, tenant, row.blob_key)
    await fileStore(tx).insert(row)
  }
}

/** Refuses an upload before its bytes are sent, when the caller names the session first. */
async function checkEarly(
  { holdSession, quotas }: UploadDeps,
  { db, tenant }: TenantRef,
  { session_id }: FileFields,
): Promise<void> {
  if (session_id !== undefined)
    await runUnaudited(() => db.write((tx) => holdSession(tx, tenant, session_id)))
  await quotas.hasRoom(db.read, tenant, 'stored_bytes')
}

async function store(
  { keeping, limits }: FileStorage,
  tenant: string,
  part: Omit<FormPart, 'name'>,
): Promise<UploadedFile> {
  const filename = toFilename(part.filename)
  const id = newId('file')
  const key = `files/${tenant}/${id}`
  const body = limitBytes(part.body, limits.largest, () => tooLarge(limits))
  const { size, sha256 } = await keeping.put(tenant, key, body)
  return {
    id,
    key,
    filename,
    mime_type: mimeType.test(part.mimeType) ? part.mimeType : 'application/octet-stream',
    size_bytes: size,
    sha256,
  }
}

/** The media type becomes a header of downloads. */
const mimeType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

const tooLarge = ({ largest }: UploadLimits) =>
  new PlatformError('too_large', `file: is larger than ${largest} bytes`)

/** The last component of a path of any system. It becomes a file name in a sandbox. */
export function toFilename(text: string): string {
  const name = text.split(/[/\\]/).at(-1) ?? ''
  const bytes = Buffer.byteLength(name)
  if (bytes === 0 || bytes > 255 || name === '.' || name === '..')
    throw invalid('file: needs a filename of 1 to 255 bytes')
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(name) || !name.isWellFormed())
    throw invalid('file: its filename may hold no control characters')
  return name
}
