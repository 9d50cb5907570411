/**
 * Loads media that a message names by URL or by file id. Each hop of a URL goes through the guarded dialler of
 * `core/security/dial.ts`.
 */
import { isUtf8 } from 'node:buffer'
import type { LoadMedia, MediaResult, RemoteMedia } from '@steward/harness/content.ts'
import type { Blobs } from '../../ground/blobs/blobs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { shownAs } from '../../resources/files/shown-media.ts'
import { fileStore, isExpired } from '../../resources/files/store.ts'

const largest = 20 * 1024 * 1024
const withinMs = 30_000
const kinds = {
  image: /^image\/(png|jpeg|gif|webp)$/,
  document: /^(application\/pdf|text\/plain)$/,
}

const failed = (message: string): MediaResult => ({ ok: false, message })

/** Loads media for the messages of one workspace. */
export const mediaLoader =
  (deps: { databases: Databases; blobs: Blobs; clock: Clock }, tenant: string): LoadMedia =>
  ({ kind, source }) =>
    source.type === 'url'
      ? download(kind, source.url)
      : readStored(deps, tenant, kind, source.file_id)

async function readStored(
  { databases, blobs, clock }: Parameters<typeof mediaLoader>[0],
  tenant: string,
  kind: RemoteMedia['kind'],
  id: string,
): Promise<MediaResult> {
  try {
    const database = await databases.open(tenant)
    const [row] = await fileStore(database.read).named(tenant, [id])
    if (!row) return failed('the file is gone')
    if (isExpired(row, clock.now()) || row.blob_key === null) return failed('the file has expired')
    const shown = shownAs(kind, row)
    if (!shown.ok) return failed(shown.message)
    const found = await blobs.get(row.blob_key)
    if (!found) return failed('the file is gone')
    const bytes = await read(found.body)
    if (!bytes) return failed(`it is larger than ${largest} bytes`)
    const { media_type } = shown
    if (media_type === 'text/plain' && !isUtf8(bytes)) return failed('it is no text in UTF-8')
    return { ok: true, media_type, data: bytes.toString('base64') }
  } catch (error) {
    return failed(reason(error))
  }
}

async function download(kind: RemoteMedia['kind'], url: string): Promise<MediaResult> {
  if (!/^https?:/.test(url)) return failed('only http and https are fetched')
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(withinMs) })
    if (!response.ok) return failed(`its server answered ${response.status}`)
    const [media_type = ''] = (response.headers.get('content-type') ?? '').split(';')
    if (!kinds[kind].test(media_type))
      return failed(`${media_type || 'no type'} is no ${kind} that a model takes`)
    const bytes = await read(response.body)
    return bytes
      ? { ok: true, media_type, data: bytes.toString('base64') }
      : failed(`it is larger than ${largest} bytes`)
  } catch (error) {
    return failed(reason(error))
  }
}

async function read(body: AsyncIterable<Uint8Array> | null): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > largest) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The innermost cause of a failure, because a person can act on that cause. */
function reason(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? reason(cause) : message
}
