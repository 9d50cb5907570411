/** The kinds of what a session is given. A type of resource without a kind does not compile. */
import type { ResourceType } from '@steward/protocol/session-resources.ts'
import { fileKind } from './files.ts'
import type { ResourceKind } from './kind.ts'
import type { MemoryStoreDeps } from './memory-stores.ts'
import { memoryStoreKind } from './memory-stores.ts'
import type { RepositoryDeps } from './repositories.ts'
import { repositoryKind } from './repositories.ts'

export type ResourceKinds = { readonly [Type in ResourceType]: ResourceKind<Type> }

export const resourceKinds = (deps: RepositoryDeps & MemoryStoreDeps): ResourceKinds => ({
  github_repository: repositoryKind(deps),
  file: fileKind,
  memory_store: memoryStoreKind(deps),
})

export const kindOf = <Type extends ResourceType>(
  kinds: ResourceKinds,
  { type }: { type: Type },
): ResourceKind<Type> => kinds[type]
