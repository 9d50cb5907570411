/** The kinds of what a session is given. A type of resource without a kind does not compile. */
import type { ResourceType } from '@steward/protocol/session-resources.ts'
import type { Reads } from '../../ground/database/database.ts'
import { resourceStore } from '../rows/resources.ts'
import type { SessionRow } from '../rows/sessions.ts'
import { fileKind } from './files.ts'
import type { PromptPart, ResourceKind } from './kind.ts'
import type { MemoryStoreKindDeps } from './memory-stores.ts'
import { memoryStoreKind } from './memory-stores.ts'
import type { RepositoryKindDeps } from './repositories.ts'
import { repositoryKind } from './repositories.ts'

export type ResourceKinds = { readonly [Type in ResourceType]: ResourceKind<Type> }

/** In the order in which the system prompt tells of them. */
export const resourceKinds = (deps: RepositoryKindDeps & MemoryStoreKindDeps): ResourceKinds => ({
  github_repository: repositoryKind(deps),
  file: fileKind,
  memory_store: memoryStoreKind(deps),
})

export const kindOf = <Type extends ResourceType>(
  kinds: ResourceKinds,
  { type }: { type: Type },
): ResourceKind<Type> => kinds[type]

/** What the system prompt says of the session's resources. */
export async function describeResources(
  kinds: ResourceKinds,
  read: Reads,
  session: SessionRow,
): Promise<PromptPart[]> {
  const { tenant_id: tenant, id } = session
  const found = await resourceStore(read).ofSessions(tenant, [id])
  const resources = found.get(id) ?? []
  return Promise.all(Object.values(kinds).map((kind) => kind.describe(resources, read, session)))
}
