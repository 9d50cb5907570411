/** Content that a message names by its URL. Every hop goes through the guarded dialler: core/dial.ts. */
import type { Bring, Brought } from '@steward/harness/content.ts'

const largest = 20 * 1024 * 1024
const withinMs = 30_000
const kinds = {
  image: /^image\/(png|jpeg|gif|webp)$/,
  document: /^(application\/pdf|text\/plain)$/,
}

const failed = (message: string): Brought => ({ ok: false, message })

export const bring: Bring = async ({ kind, source }) => {
  if (source.type === 'file') return failed('files are not yet supported')
  if (!/^https?:/.test(source.url)) return failed('only http and https are fetched')
  try {
    const response = await fetch(source.url, { signal: AbortSignal.timeout(withinMs) })
    if (!response.ok) return failed(`its server answered ${response.status}`)
    const [media_type = ''] = (response.headers.get('content-type') ?? '').split(';')
    if (!kinds[kind].test(media_type))
      return failed(`${media_type || 'no type'} is no ${kind} that a model takes`)
    const bytes = await read(response)
    return bytes
      ? { ok: true, media_type, data: bytes.toString('base64') }
      : failed(`it is larger than ${largest} bytes`)
  } catch (error) {
    return failed(reason(error))
  }
}

async function read(response: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > largest) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What went wrong on the way, from the innermost cause: the one that a person can act on. */
function reason(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? reason(cause) : message
}
