import { notFound, PlatformError } from '../../../ground/core/errors.ts'
import type { Reads } from '../../../ground/database/database.ts'
import { agentStore } from '../../../resources/agents/store.ts'

/** What the wire has at the places of agents. */
const notAgents: readonly string[] = ['automations']

/** An agent that is archived is deleted for this surface. */
export async function findAgent(read: Reads, tenant: string, id: string) {
  if (notAgents.includes(id))
    throw new PlatformError(
      'not_found',
      `the ${id} of this surface are not offered by this service`,
    )
  const agent = await agentStore(read).get(tenant, id)
  if (agent.archived) throw notFound('agent', id)
  return agent
}
