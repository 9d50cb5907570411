/** A multipart form with files in it, read as it comes: a file is handed on while the rest is still under way. */
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { invalid, PlatformError } from '../core/errors.ts'
import { ownsMemory, freeUsedViews } from '../core/stream-memory.ts'

/** A piece of the body is gone when the next is asked for. */
export type FormPart = {
  name: string
  filename: string
  mimeType: string
  body: AsyncIterable<Uint8Array>
}

/** Fields of a form: their names, and how long the text of one may be. */
const mostFields = 16
const longestField = 4096

/** The name of the fields that are files, where it has to be one, and how many of them there may be. */
export type FormFiles = { named: string | undefined; most: number }

const oneFile: FormFiles = { named: 'file', most: 1 }

export const isForm = (contentType: string): boolean =>
  /^multipart\/form-data\s*;/i.test(contentType)

/**
 * Reads the whole form. `take` is given each file, which it must read to its end, and the texts that came before it.
 * When it fails, or the form is none, what is left of the body is read and thrown away, so that the refusal can be
 * written; where the caller went away it rejects too.
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
  /** Memory of the body's pieces, of which the file's are views. */
  const alone = new WeakSet<ArrayBufferLike>()
  const taking: Promise<T>[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()

  parser.on('field', (name, value, { nameTruncated, valueTruncated }) => {
    if (nameTruncated || valueTruncated) return reject(invalid(`${name}: is too long`))
    if (name === named) return reject(invalid(`${name}: must be a file, with a filename`))
    if (fields.has(name)) return reject(invalid(`${name}: was sent twice`))
    fields.set(name, value)
  })
  parser.on('file', (name, stream, { filename, mimeType }) => {
    // A parser that is given up ends its parts with an error, which is told by the parser.
    stream.on('error', () => {})
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
  // It may fail more than once: for what it read, and for being given up.
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
    // What was taken has ended before the refusal is written.
    await Promise.allSettled(taking)
    if (!(error instanceof PlatformError && error.kind === 'too_large')) body.resume()
    throw error
  }
}

const count = (most: number): string => (most === 1 ? 'one file' : `at most ${most} files`)

/** Browsers, and whoever writes forms as they do, put a quotation mark in this way. */
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
