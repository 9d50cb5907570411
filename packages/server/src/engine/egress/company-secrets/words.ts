/** What callers and agents are told when a secret manager gives no secret. */
import type { SecretReference } from '@steward/protocol/secret-references.ts'
import type { ManagerFailure } from '@steward/secret-managers/wire.ts'

/** Why a read gave no secret. */
export type ReadResult = ManagerFailure['why'] | 'not_allowed'

/**
 * `said`: the manager's words. They are told where they concern the secret itself. Where they concern the server, its
 * network or its rights, the server's log alone has them.
 */
export function refusalOf(
  why: ReadResult,
  { manager, name }: SecretReference,
  said: string,
): string {
  const subject = `the secret manager ${manager}`
  switch (why) {
    case 'away':
      return `${subject} is away: ${name} could not be read. Try again in a moment`
    case 'sign_in':
      return `${subject} does not accept this server, so that ${name} could not be read: its operator finds the reason in the server's log`
    case 'denied':
      return `${subject} does not let this server read ${name}: whoever runs it has to allow that`
    case 'missing':
      return `${subject} does not have ${name}: ${said}`
    case 'not_allowed':
      return `this workspace has no secret manager ${manager}: the operator names the workspaces of each one in SECRET_MANAGERS`
    case 'malformed':
    case 'too_large':
      return `${subject} has no usable ${name}: ${said}`
  }
}
