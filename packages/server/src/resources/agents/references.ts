/** What an agent names for its sessions is the workspace's, so that a wrong id is refused before a session needs it. */
import type { AgentCreate } from '@steward/protocol/agents.ts'
import { notFound } from '../../ground/core/errors.ts'
import type { Reads } from '../../ground/database/database.ts'
import { rows } from '../../ground/database/rows.ts'

type AgentReferences = Pick<AgentCreate, 'environment_id' | 'memory_store_id'>

export async function checkReferences(
  read: Reads,
  tenant: string,
  { environment_id: environment, memory_store_id: store }: AgentReferences,
): Promise<void> {
  if (environment && !(await rows(read, 'environments').find(tenant, environment)))
    throw notFound('environment', environment)
  if (store && !(await rows(read, 'memory_stores').find(tenant, store)))
    throw notFound('memory store', store)
}
