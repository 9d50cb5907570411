/** The list of the kinds of resources. A type without a kind does not compile. */
import type { ResourceType } from '@steward/protocol/session-resources.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { ResourceRow } from '../rows/resources.ts'
import { resourceStore } from '../rows/resources.ts'
import type { SessionRow } from '../rows/sessions.ts'
import { fileKind } from './files.ts'
import type { PromptPart, ResourceKind, ResourceRequest } from './kind.ts'
import type { MemoryStoreKindDeps } from './memory-stores.ts'
import { memoryStoreKind } from './memory-stores.ts'
import type { RepositoryKindDeps } from './repositories.ts'
import { repositoryKind } from './repositories.ts'

export type ResourceKinds = { readonly [Type in ResourceType]: ResourceKind<Type> }

/** The kinds, in the order of their parts of the system prompt. */
export const resourceKinds = (deps: RepositoryKindDeps & MemoryStoreKindDeps): ResourceKinds => ({
  github_repository: repositoryKind(deps),
  file: fileKind,
  memory_store: memoryStoreKind(deps),
})

export const kindOf = <Type extends ResourceType>(
  kinds: ResourceKinds,
  { type }: { type: Type },
): ResourceKind<Type> => kinds[type]

/** Requests that would attach the resources of a session to another one, each at its place. */
export const requestsAgain = (
  kinds: ResourceKinds,
  rows: readonly ResourceRow[],
): ResourceRequest[] =>
  rows.map((row, index) => ({
    resource: kindOf(kinds, row).requestAgain(row),
    at: `resources.${index}.`,
  }))

/** The parts of the system prompt about the session's resources. */
export async function describeResources(
  kinds: ResourceKinds,
  read: Reads,
  session: SessionRow,
): Promise<PromptPart[]> {
  const { tenant_id: tenant, id } = session
  const resources = await resourceStore(read).ofSession(tenant, id)
  return Promise.all(Object.values(kinds).map((kind) => kind.describe(resources, read, session)))
}
