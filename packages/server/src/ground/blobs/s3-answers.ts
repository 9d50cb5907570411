/** What a bucket answers, read within bounds of bytes and time: it may be hostile, or something else in its place. */
import type { Dispatcher } from 'undici'
import { limitBytes } from '@steward/base/byte-limit.ts'
import { BlobStoreError } from '../core/errors.ts'

export type BucketAnswer = Dispatcher.ResponseData & { attempts: number }
type AnswerBody = Pick<BucketAnswer, 'body'>

/** Milliseconds between two pieces of an answer's body, and for a whole list. */
export const bodyTimeout = 30_000
/** Bytes of a list, which has a thousand keys. */
const longestXml = 4 * 1024 * 1024
/** Milliseconds and bytes for the reason of a failure. */
const reasonTimeout = 1_000
const longestReason = 64 * 1024
/** Characters of a reason that are shown. */
const shownCharacters = 300
/** Milliseconds for a body that nobody reads. */
const unreadTimeout = 300

/** Ends an answer. Its connection is used again where its body ends soon, and closed otherwise. */
export async function dropBody({ body }: AnswerBody): Promise<void> {
  await body
    .dump({ limit: longestReason, signal: AbortSignal.timeout(unreadTimeout) })
    .catch(() => {})
}

/** An error with the status and the reason of the blob store. A `BlobStoreError` when the store cannot serve now. */
export async function bucketFailure(answer: BucketAnswer, what: string): Promise<Error> {
  const { statusCode } = answer
  const said = await textOf(answer, longestReason, reasonTimeout).catch(() => '')
  const why = reasonIn(said) || 'no reason'
  const error = new Error(`the blob store answered ${statusCode} (${why}): ${what}`)
  return statusCode >= 500 || statusCode === 429 ? new BlobStoreError(error) : error
}

/**
 * The reason in the XML of a failure, for people. Attack: a store, or a proxy before it, may repeat the signature of the
 * request, or send what clears the terminal that shows its words.
 */
export const reasonIn = (said: string): string =>
  [xmlText(said, 'Code'), xmlText(said, 'Message')]
    .filter(Boolean)
    .join(': ')
    .replaceAll(/[\da-f]{64}/gi, '[…]')
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, shownCharacters)

/** The XML of an answer. Throws a `BlobStoreError` when it is too long, or is not there in time. */
export const readXml = (answer: AnswerBody): Promise<string> =>
  textOf(answer, longestXml, bodyTimeout)

async function textOf({ body }: AnswerBody, longest: number, ms: number): Promise<string> {
  const tooLarge = () => new Error(`the blob store answered with more than ${longest} bytes`)
  const late = setTimeout(
    () => body.destroy(new Error(`the blob store did not end its answer within ${ms} ms`)),
    ms,
  )
  try {
    const pieces = await Array.fromAsync(limitBytes<Buffer>(body, longest, tooLarge))
    return Buffer.concat(pieces).toString()
  } catch (error) {
    throw new BlobStoreError(error as Error)
  } finally {
    clearTimeout(late)
  }
}

/** The text of the first element with the name. */
export function xmlText(xml: string, name: string): string | undefined {
  const inner = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return inner?.replaceAll(/&(amp|lt|gt|quot|apos|#34|#39);/g, (_, entity: string) => {
    return entities[entity] ?? ''
  })
}

/** What is in each element with the name. Costs the length of the XML, also where no element ends. */
export function* xmlElements(xml: string, name: string): Generator<string> {
  const [opening, closing] = [`<${name}>`, `</${name}>`]
  for (let at = 0; ;) {
    const from = xml.indexOf(opening, at)
    const to = from < 0 ? -1 : xml.indexOf(closing, from)
    if (to < 0) return
    yield xml.slice(from + opening.length, to)
    at = to + closing.length
  }
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#34': '"',
  '#39': "'",
}
