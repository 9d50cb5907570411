/** The end of a turn that could not continue. */
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import type { SessionFailure } from '@steward/protocol/events.ts'
import type { TurnEnd } from '@steward/harness/turn.ts'
import { StorageError } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import type { Head } from '../../sessions/log/head.ts'
import type { LogEntry } from '../../sessions/log/log.ts'
import type { DrainDeps } from './turn-deps.ts'

/** `isElsewhere`: see `TurnAssembly`; undefined when the turn could not be assembled. */
export type FailedEnd = {
  stop: TurnEnd['stop']
  last: LogEntry[]
  isElsewhere?: boolean
  head?: Head | undefined
}

/** Ends the turn with a `session.error`; the session is idle afterwards. */
export function failedTurn(failure: SessionFailure): FailedEnd {
  const error = { ...failure, retry_status: { type: 'exhausted' as const } }
  return {
    stop: { type: 'retries_exhausted' },
    last: [{ event: { id: newId('event'), type: 'session.error', error } }],
  }
}

/**
 * The database did not store an event of the turn. The turn is not over: the next drain recovers it as after a crash.
 */
export class EventNotStored extends Error {
  constructor(cause: unknown) {
    super('what a turn did could not be kept', { cause })
  }
}

/**
 * Shows a `TurnFailed` to the session unchanged. Any other error is a bug: the server's log gets it, and the session a
 * general message.
 */
export function failedTurnBy({ log }: DrainDeps, session: string, error: unknown): FailedEnd {
  if (error instanceof EventNotStored || error instanceof StorageError) throw error
  if (error instanceof TurnFailed) return failedTurn(error.failure)
  log.error('a turn failed', { error, session_id: session })
  return failedTurn({
    type: 'unknown_error',
    message: 'the turn could not go on; the log of the server says why',
  })
}
