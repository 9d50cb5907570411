/** Reads a multipart form with files as it arrives: a file is passed on while later parts are still sent. */
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { invalid, PlatformError } from '../../core/errors.ts'
import { ownsMemory, freeUsedViews } from '../../core/fairness/stream-memory.ts'

/** A file of the form. The memory of a piece is freed when the next piece is requested. */
export type FormPart = {
  name: string
  filename: string
  mimeType: string
  body: AsyncIterable<Uint8Array>
}

/** Most fields of a form, and the longest text of one in bytes. */
const mostFields = 16
const longestField = 4096

/** The required name of file fields (undefined: any), and the largest number of files. */
export type FormFiles = { named: string | undefined; most: number }

const oneFile: FormFiles = { named: 'file', most: 1 }

export const isForm = (contentType: string): boolean =>
  /^multipart\/form-data\s*;/i.test(contentType)

/**
 * Reads the whole form. `take` gets each file, which it must read to its end, and the texts before it. Rejects when
 * `take` fails, the form is invalid, or the caller disconnects. The rest of the body is then read and discarded, so
 * that the error can be sent.
 */
export async function readForm<T>(
  { contentType, body }: { contentType: string; body: Readable | null },
  take: (part: FormPart, before: Record<string, string>) => Promise<T>,
  { named, most }: FormFiles = oneFile,
): Promise<{ fields: Record<string, string>; taken: T[] }> {
  if (!body || !isForm(contentType))
    throw invalid('the body must be multipart/form-data, with each file in a field of its own')
  const parser = parserOf(contentType, most)
  const fields = new Map<string, string>()
  /** Memory of the body's pieces. Pieces of files are views of it. */
  const alone = new WeakSet<ArrayBufferLike>()
  const taking: Promise<T>[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()

  parser.on('field', (name: string | undefined, value, { nameTruncated, valueTruncated }) => {
    if (name === undefined) return reject(invalid(nameless(named)))
    if (nameTruncated || valueTruncated) return reject(invalid(`${name}: is too long`))
    if (name === named) return reject(invalid(`${name}: must be a file, with a filename`))
    if (fields.has(name)) return reject(invalid(`${name}: was sent twice`))
    fields.set(name, value)
  })
  parser.on('file', (name: string | undefined, stream, { filename, mimeType }) => {
    // A destroyed parser ends its parts with an error, which the parser reports too.
    stream.on('error', () => {})
    if (name === undefined) return reject(invalid(nameless(named)))
    if (named !== undefined && name !== named)
      return reject(invalid(`${name}: unknown field; the file is named ${named}`))
    if (taking.length === most) return reject(invalid(`${name}: one upload takes ${count(most)}`))
    const part = { name, filename: nameIn(filename), mimeType, body: freeUsedViews(stream, alone) }
    const taken = take(part, Object.fromEntries(fields))
    taken.catch(reject)
    taking.push(taken)
  })
  for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
    parser.once(limit, () => reject(invalid('the form has too many parts')))
  // The parser may fail twice: for its input, and when it is destroyed.
  parser.on('error', (cause) => {
    const message = cause instanceof Error ? cause.message : String(cause)
    reject(Object.assign(invalid(`the form cannot be read: ${message}`), { cause }))
  })
  parser.once('close', resolve)
  const broken = () => void (body.readableEnded || reject(invalid('the body broke off')))
  body.on('error', broken).once('close', broken)
  if (body.destroyed) broken()
  body.on('data', (piece: Buffer) => void (ownsMemory(piece) && alone.add(piece.buffer)))
  body.pipe(parser)
  try {
    await promise
    const taken = await Promise.all(taking)
    return { fields: Object.fromEntries(fields), taken }
  } catch (error) {
    body.unpipe(parser)
    parser.destroy()
    // All files have ended before the error is sent.
    await Promise.allSettled(taking)
    if (!(error instanceof PlatformError && error.kind === 'too_large')) body.resume()
    throw error
  }
}

const nameless = (named: string | undefined): string =>
  `a part of the form has no name${named === undefined ? '' : `; the file is named ${named}`}`

const count = (most: number): string => (most === 1 ? 'one file' : `at most ${most} files`)

/** Browsers, and programs that write forms like them, encode a quotation mark as `%22`. */
const nameIn = (filename: string | undefined): string => (filename ?? '').replaceAll('%22', '"')

function parserOf(contentType: string, mostFiles: number) {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      defParamCharset: 'utf8',
      limits: {
        parts: mostFields + mostFiles - 1,
        fieldNameSize: 64,
        fieldSize: longestField,
        headerPairs: 16,
      },
    })
  } catch (cause) {
    throw Object.assign(invalid(`the form cannot be read: ${(cause as Error).message}`), { cause })
  }
}
