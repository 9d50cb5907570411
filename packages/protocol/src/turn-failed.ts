import type { SessionFailure } from './events.ts'

/**
 * Thrown by code that runs tools, for a failure that no further call would mend. The turn ends with this session error.
 */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
  readonly failure: SessionFailure
  constructor(failure: SessionFailure, options?: ErrorOptions) {
    super(failure.message, options)
    this.failure = failure
  }
}
