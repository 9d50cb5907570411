/** The reasons why a repository could not be cloned. [resources/repository/errors] */
import type { RepositoryErrorType } from '@steward/protocol/events.ts'

/** A failure outside of the service, with the message for the session's log. */
export class RepositoryFailure extends Error {
  override readonly name = 'RepositoryFailure'
  readonly type: RepositoryErrorType
  constructor(kind: keyof typeof types, message: string, options?: ErrorOptions) {
    super(message, options)
    this.type = types[kind]
  }
}

const types = {
  authentication: 'repository_authentication_error',
  forbidden: 'repository_forbidden_error',
  not_found: 'repository_not_found_error',
  checkout: 'repository_checkout_error',
  clone: 'repository_clone_error',
} as const
