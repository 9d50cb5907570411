/** Where the agent of a publication works on code. */
import type { IntegrationId, PublicationSpec } from '@steward/protocol/integrations.ts'
import type { Notes } from './integration.ts'
import type { PublicationRow } from './store.ts'

/** The installation `installation_id` of the app `integration` has the repository. */
export type HostedRepository = Pick<PublicationRow, 'installation_id'> & {
  integration: IntegrationId
  repository: string
}

/** Undefined where it opens no pull requests. */
export const pullRequestPolicyOf = ({ github, code }: PublicationSpec) =>
  code?.pull_requests ?? github?.pull_requests ?? undefined

/** The integration whose app has the repository. */
export const codeHostOf = ({
  integration,
  spec: { code },
}: Pick<PublicationRow, 'integration' | 'spec'>): IntegrationId => (code ? 'github' : integration)

/** The repository that the publication names, or the one that the thread is about. */
export function hostedRepositoryOf(
  publication: Pick<PublicationRow, 'integration' | 'installation_id' | 'spec'>,
  target: Notes,
): HostedRepository | undefined {
  const integration = codeHostOf(publication)
  const { installation_id, repository } = publication.spec.code ?? {
    installation_id: publication.installation_id,
    repository: target['repository'],
  }
  return typeof repository === 'string' ? { integration, installation_id, repository } : undefined
}
