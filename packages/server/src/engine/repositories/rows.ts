/** The rows of a session's repositories. */
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import { ofType, repositoryTokenContext, resourceStore } from '../../sessions/rows/resources.ts'
import type { RepositoryDeps } from './mount.ts'

type RepositoryRowDeps = { databases: Databases; seal: Seal; clock: Clock }

export function repositoryRows({
  databases,
  seal,
  clock,
}: RepositoryRowDeps): Pick<RepositoryDeps, 'rows' | 'open' | 'cloned'> {
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
