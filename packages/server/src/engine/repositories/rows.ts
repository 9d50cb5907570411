/** The rows of a session's repositories. */
import { iso } from '@steward/base/time.ts'
import type { Ground } from '../../ground/ground.ts'
import { ofType, repositoryTokenContext, resourceStore } from '../../sessions/rows/resources.ts'
import type { RepositoryRows } from './mount.ts'

export function repositoryRows({ databases, seal, clock }: Ground): RepositoryRows {
  return {
    async rows(tenant, session) {
      const { read } = await databases.open(tenant)
      return ofType(await resourceStore(read).ofSession(tenant, session), 'github_repository')
    },
    open: ({ tenant_id, id, sealed_token }) =>
      sealed_token === null
        ? undefined
        : seal.open(sealed_token, repositoryTokenContext(tenant_id, id)),
    async cloned({ tenant_id: tenant, session_id, id }) {
      const database = await databases.open(tenant)
      const change = { mounted_at: iso(clock.now()) }
      await database.write((tx) => resourceStore(tx).update(tenant, session_id, id, change))
    },
  }
}
