import type { SessionError } from '@steward/protocol/events.ts'
import type { RepositoryFailed } from '@steward/protocol/inputs.ts'
import type { RepositoryRow } from './repositories.ts'

/** The error of a session whose repository could not be cloned, by the service or by a worker. It is tried again. */
export const cloneError = (
  { fields: { url }, resolved_path }: RepositoryRow,
  { type, message }: RepositoryFailed,
): SessionError => ({
  type,
  message: `${url} could not be cloned into ${resolved_path}: ${message}`,
  repository_url: url,
  retry_status: { type: 'retrying' },
})
