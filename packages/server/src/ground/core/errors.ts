/** Errors of callers and of storage. http/errors.ts maps each kind to a status and to both vocabularies. */
import { shortenEcho } from '@steward/protocol/problems.ts'
import type { Json } from './text/json-text.ts'
import { toJson } from './text/json-text.ts'

export type ErrorKind =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'range_not_satisfiable'
  | 'rate_limited'
  | 'unavailable'
  | 'bad_gateway'

/** A mistake that the caller can mend. Any other thrown error is a fault of the service, answered with 500. */
export class PlatformError extends Error {
  readonly kind: ErrorKind
  /**
   * Shown as `error.details`. `error_code` selects the typed error of the official client. With `error_type`, which is
   * the error's type for the official client, the fields stand in the error itself.
   */
  readonly details: Record<string, unknown> | undefined

  constructor(kind: ErrorKind, message: string, details?: Record<string, unknown>) {
    super(message)
    this.kind = kind
    this.details = details
  }
}

/** A refusal because of more requests than a rate allows. */
export class RateLimitError extends PlatformError {
  /** Whole seconds until the next attempt. */
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The requested range lies outside of the file. */
export class FileRangeError extends PlatformError {
  /** Bytes of the file. */
  readonly size: number

  constructor(size: number) {
    super('range_not_satisfiable', `range: the file has ${size} bytes`)
    this.size = size
  }
}

/**
 * The database or the disk cannot serve the request now. The request is valid and works later. `isUnsure`: the
 * connection was lost during a commit, so that the write may or may not have happened.
 */
export class StorageError extends Error {
  readonly reason: 'away' | 'full'
  readonly isUnsure: boolean

  constructor(reason: 'away' | 'full', cause: Error, isUnsure = false) {
    super(isUnsure ? unsure : why[reason], { cause })
    this.reason = reason
    this.isUnsure = isUnsure
  }
}

/** The database of one workspace cannot be used. Other workspaces are not affected. */
export class WorkspaceDatabaseError extends StorageError {
  constructor(cause: Error) {
    super('away', cause)
    this.message =
      "the database of this workspace cannot be opened, and others are not affected: the server's log has the reason"
  }
}

/** The bucket of the blobs refuses connections, does not answer in time, or says that it cannot serve. */
export class BlobStoreError extends StorageError {
  constructor(cause: Error) {
    super('away', cause)
    this.message =
      'the store of files cannot be reached, or does not answer in time: try again in a moment'
  }
}

/** The workspace of a credential was deleted: credentials that are signed and not stored outlive it. */
export class NoWorkspaceError extends PlatformError {
  constructor(tenant: string) {
    super('unauthorized', `the workspace ${tenant} does not exist, or was deleted`)
  }
}

const why = {
  away: 'the database cannot be reached, or does not answer in time: try again',
  full: 'there is no space left to write to: the operator has to free some',
}
const unsure =
  'the database was lost while this was written: look whether it was kept before you try again'

/** Turns a system error of a full disk into a `StorageError`. Returns any other error unchanged. */
export function diskError(error: unknown): unknown {
  const isFull = error instanceof Error && /^(ENOSPC|EDQUOT)$/.test(codeOf(error))
  return isFull ? new StorageError('full', error) : error
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

export const invalid = (message: string, code?: string) =>
  new PlatformError('invalid_request', message, code ? { error_code: code } : undefined)
export const unauthorized = (message: string) => new PlatformError('unauthorized', message)
export const forbidden = (message: string, code?: string) =>
  new PlatformError('forbidden', message, code ? { error_code: code } : undefined)
/** The same message for an absent object and for an object of another tenant, which must not be told apart. */
export const notFound = (what: string, id: string) =>
  new PlatformError(
    'not_found',
    `${what} ${shortenEcho(id)} does not exist`,
    what === 'environment' ? { error_code: 'environment_not_found' } : undefined,
  )
export const conflict = (message: string, code?: string) =>
  new PlatformError('conflict', message, code ? { error_code: code } : undefined)
/** The refusal of a specified feature that the service does not have yet. `field` names it. */
export const unsupported = (field: string, what = 'is') =>
  new PlatformError('invalid_request', `${field}: ${what} not yet supported`)

/** Bytes of one record. A record is read, listed and copied as a whole. */
const largestRecord = 1024 * 1024

/** The JSON text of a record. Throws `invalid_request` above 1 MiB. `what`: the noun in the message. */
export function recordText<T extends object>(what: string, record: T): Json<T> {
  const text = toJson(record)
  if (Buffer.byteLength(text) > largestRecord)
    throw invalid(`the ${what} is larger than ${largestRecord} bytes`)
  return text
}
