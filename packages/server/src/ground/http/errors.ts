import type { ClientErrorType, ErrorType } from '@steward/protocol/errors.ts'
import type { Dialect } from '@steward/protocol/dialects.ts'
import { shortenEcho } from '@steward/protocol/problems.ts'
import type { ErrorKind } from '../core/errors.ts'
import {
  diskError,
  FileRangeError,
  PlatformError,
  RateLimitError,
  StorageError,
} from '../core/errors.ts'

type ErrorAnswer = {
  status: number
  interface: ErrorType
  client: ClientErrorType
  headers?: Record<string, string>
}

/** The official client repeats a conflict unless this header forbids it. */
const notAgain = { 'x-should-retry': 'false' }
/** Seconds in which Postgres usually restarts, or others make room. */
const soon = { 'retry-after': '3' }
/** Closes the connection: the rest of a body that is too long is not read. */
const noMore = { connection: 'close' }

/** For a refusal that passes within seconds. */
const atOnce = { 'retry-after': '1' }

/** Status and both vocabularies of each kind. [errors/type/invalid-request] */
const answers: Record<ErrorKind, ErrorAnswer> = {
  invalid_request: { status: 400, interface: 'invalid_request', client: 'invalid_request_error' },
  unauthorized: { status: 401, interface: 'unauthorized', client: 'authentication_error' },
  forbidden: { status: 403, interface: 'forbidden', client: 'permission_error' },
  not_found: { status: 404, interface: 'not_found', client: 'not_found_error' },
  method_not_allowed: {
    status: 405,
    interface: 'invalid_request',
    client: 'invalid_request_error',
  },
  conflict: {
    status: 409,
    interface: 'invalid_request',
    client: 'conflict_error',
    headers: notAgain,
  },
  precondition_failed: {
    status: 412,
    interface: 'invalid_request',
    client: 'invalid_request_error',
  },
  too_large: {
    status: 413,
    interface: 'invalid_request',
    client: 'invalid_request_error',
    headers: noMore,
  },
  range_not_satisfiable: {
    status: 416,
    interface: 'invalid_request',
    client: 'invalid_request_error',
  },
  rate_limited: {
    status: 429,
    interface: 'rate_limited',
    client: 'rate_limit_error',
    headers: atOnce,
  },
  bad_gateway: { status: 502, interface: 'internal_error', client: 'api_error' },
  unavailable: {
    status: 503,
    interface: 'internal_error',
    client: 'overloaded_error',
    headers: atOnce,
  },
}
const ours: ErrorAnswer = { status: 500, interface: 'internal_error', client: 'api_error' }

/** For a full disk: the operator has to free space first. */
const later = { 'retry-after': '10' }
const full: ErrorAnswer = { ...ours, status: 507, headers: later }

/** Each status with its type, as a table for the published description. */
export function describeErrors(): string {
  const all = [...Object.values(answers), ours, full].toSorted((a, b) => a.status - b.status)
  return [
    'An error. `error.type` follows from the status:',
    '',
    '| status | `error.type` | with `anthropic-version` |',
    '|---|---|---|',
    ...all.map((answer) => `| ${answer.status} | \`${answer.interface}\` | \`${answer.client}\` |`),
  ].join('\n')
}

function storageAnswer({ reason, isUnsure }: StorageError): ErrorAnswer {
  if (reason === 'full') return full
  return { ...answers.unavailable, headers: isUnsure ? notAgain : soon }
}

const answerFor = (error: unknown): ErrorAnswer => {
  if (error instanceof RateLimitError)
    return {
      ...answers.rate_limited,
      headers: { 'retry-after': String(error.retryAfterSeconds) },
    }
  if (error instanceof FileRangeError)
    return { ...answers[error.kind], headers: { 'content-range': `bytes */${error.size}` } }
  if (error instanceof PlatformError) return answers[error.kind]
  return error instanceof StorageError ? storageAnswer(error) : ours
}

/** Cuts words that are too long for a word of a sentence: input that is repeated. */
const shortWords = (message: string): string => message.replaceAll(/\S{200,}/g, shortenEcho)

/** The body of every error. An error that is not the caller's mistake shows only the id of the request. */
export function errorAnswer(
  thrown: unknown,
  { dialect, requestId }: { dialect: Dialect; requestId: string },
): { status: number; headers: Record<string, string>; body: object } {
  const error = diskError(thrown)
  const answer = answerFor(error)
  const known = error instanceof PlatformError ? error : undefined
  const told = known ?? (error instanceof StorageError ? error : undefined)
  const message = told
    ? shortWords(told.message)
    : `internal error: the server's log has the reason under ${requestId}`
  const { error_type, ...rest } = known?.details ?? {}
  const details = error_type ? rest : known?.details ? { details: rest } : {}
  const client = typeof error_type === 'string' ? error_type : answer.client
  return {
    status: answer.status,
    headers: answer.headers ?? {},
    body: {
      type: 'error',
      error: { type: dialect === 'client' ? client : answer.interface, message, ...details },
      request_id: requestId,
    },
  }
}
