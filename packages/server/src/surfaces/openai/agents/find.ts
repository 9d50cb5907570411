import { notFound } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { agentStore } from '../../../resources/agents/store.ts'

/** Finds an agent. This surface treats archived agents as deleted. */
export async function findAgent(read: Reads, tenant: string, id: string) {
  const agent = await agentStore(read).get(tenant, id)
  if (agent.archived) throw notFound('agent', id)
  return agent
}
