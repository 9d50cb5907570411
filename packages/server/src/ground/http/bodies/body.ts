import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { describeProblem, problemsOf } from '@steward/protocol/problems.ts'
import type { z } from 'zod'
import { invalid, PlatformError } from '../../core/errors.ts'
import { eventLoop, heavyBytes } from '../../core/fairness/event-loop.ts'
import type { BodyLimits } from '../limits.ts'
import { structureCheck } from './structure.ts'

/** Milliseconds for a whole body, from when the route requests it. */
const slowestMs = 300_000

const because = (error: PlatformError, cause: unknown) => Object.assign(error, { cause })

/** A body with more values than these takes milliseconds to check. */
const heavyValues = 500

/** Memory for a body of the tenant. `hold` throws when there is no room for so many bytes. */
export type BodyRoom = { tenant: string; hold: (bytes: number) => void }

/**
 * Reads the whole body as text. Throws as soon as it exceeds the limits of bytes or values, or finds no room. Nothing
 * is parsed by then, and the rest of the body is unread.
 */
export async function readText(
  body: Readable,
  limits: BodyLimits,
  { tenant, hold }: BodyRoom,
): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  let values = 0
  const check = structureCheck(limits)
  await eachPiece(body, (piece) => {
    bytes += piece.length
    if (bytes > limits.bytes) throw bodyTooLarge(limits)
    values = check(piece)
    if (bytes > heavyBytes) hold(bytes)
    pieces.push(piece)
  })
  if (bytes > heavyBytes || values > heavyValues) await eventLoop.wait(tenant, 'write')
  const whole = Buffer.concat(pieces)
  if (!isUtf8(whole)) throw invalid('the body is not UTF-8')
  return whole.toString('utf8')
}

export const bodyTooLarge = ({ bytes }: BodyLimits): PlatformError =>
  new PlatformError('too_large', `the body is larger than ${bytes} bytes`)

/** Calls `take` with each piece until the body ends or `take` throws; then the body is left as it is, paused. */
function eachPiece(body: Readable, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => body.destroy(new Error('it took too long')), slowestMs)
    let isSettled = false
    const settle = (error?: unknown) => {
      isSettled = true
      clearTimeout(late)
      body.off('data', onPiece)
      if (error === undefined) return resolve()
      body.pause()
      reject(error)
    }
    const onPiece = (piece: Buffer) => {
      try {
        take(piece)
      } catch (error) {
        settle(error)
      }
    }
    // Every body emits `close`, also after its end. That is no error.
    const broken = (cause?: unknown) => {
      if (!isSettled) settle(because(invalid('the body broke off'), cause))
    }
    // The caller disconnected before the body was requested, so no event will follow.
    if (body.destroyed) return broken()
    body
      .on('data', onPiece)
      .once('end', () => settle())
      .once('error', broken)
      .once('close', broken)
  })
}

/** Parses JSON. An absent body becomes an empty object, so that the error names each missing field. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw because(invalid(`the body is not JSON: ${jsonProblem(cause as Error)}`), cause)
  }
}

/** In words of our own: the message of the parser quotes a piece of the text, which may hold a secret. */
function jsonProblem({ message }: Error): string {
  if (/^(Unexpected end|Unterminated)/.test(message)) return 'it ends too early'
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? []
  return line === undefined
    ? 'it holds a character that has no place there'
    : `line ${line}, column ${column} holds a character that has no place there`
}

/** Parses the input by its schema. The error names every wrong field. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  error = describeProblem,
): z.output<S> {
  const parsed = schema.safeParse(input, { error })
  if (parsed.success) return parsed.data
  const isMetadata = parsed.error.issues.every(({ path }) => path[0] === 'metadata')
  throw invalid(problemsOf(parsed.error).join('; '), isMetadata ? 'invalid_metadata' : undefined)
}
