import type { SessionFailure } from './events.ts'

/** Thrown where tools run, for what no other call would mend: the turn ends with this error of the session. */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
  readonly failure: SessionFailure
  constructor(failure: SessionFailure, options?: ErrorOptions) {
    super(failure.message, options)
    this.failure = failure
  }
}
