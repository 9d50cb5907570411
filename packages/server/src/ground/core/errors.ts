/** What the caller did wrong, in one class; http/errors.ts maps each kind to a status and to both vocabularies. */
import type { Json } from './json-text.ts'
import { toJson } from './json-text.ts'

export type ErrorKind =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'rate_limited'
  | 'unavailable'
  | 'bad_gateway'

/** A mistake the caller can act on. Anything else that is thrown is ours, and answers 500. */
export class PlatformError extends Error {
  readonly kind: ErrorKind
  /**
   * Shown as `error.details`; `error_code` selects the official client's typed errors. With `error_type` they stand in
   * the error itself, whose type for the official client it is.
   */
  readonly details: Record<string, unknown> | undefined

  constructor(kind: ErrorKind, message: string, details?: Record<string, unknown>) {
    super(message)
    this.kind = kind
    this.details = details
  }
}

/** More requests than a rate allows. */
export class RateLimitError extends PlatformError {
  /** Whole seconds after which to come again. */
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/**
 * The database or the disk cannot serve this now: the caller's request is right, and works later. `isUnsure`: a commit
 * was under way, and nobody knows whether it came about.
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

/** A database of a workspace that cannot be used, while those of others can. */
export class WorkspaceDatabaseError extends StorageError {
  constructor(cause: Error) {
    super('away', cause)
    this.message =
      "the database of this workspace cannot be opened, and others are not affected: the server's log has the reason"
  }
}

/** A credential that is signed and not stored may name a workspace that was deleted since. */
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

/** An error of the system for a full disk as such; any other as it is. */
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
/** The same words for what is absent and for what belongs to another tenant. */
export const notFound = (what: string, id: string) =>
  new PlatformError(
    'not_found',
    `${what} ${id} does not exist`,
    what === 'environment' ? { error_code: 'environment_not_found' } : undefined,
  )
export const conflict = (message: string, code?: string) =>
  new PlatformError('conflict', message, code ? { error_code: code } : undefined)
/** Specified, and not built yet: `field` names what was asked for. */
export const unsupported = (field: string, what = 'is') =>
  new PlatformError('invalid_request', `${field}: ${what} not yet supported`)

/** A record is read, listed and copied whole, so it has a size. */
const largestRecord = 1024 * 1024

/** The record as it is stored, or a refusal because it is too large. */
export function recordText<T extends object>(what: string, record: T): Json<T> {
  const text = toJson(record)
  if (Buffer.byteLength(text) > largestRecord)
    throw invalid(`the ${what} is larger than ${largestRecord} bytes`)
  return text
}
