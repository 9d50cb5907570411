/** Creates an agent of this surface in the workspace. */
import type { Agent } from '@steward/protocol/agents.ts'
import type { OpenAIAgentCreate } from '@steward/protocol/openai/agents.ts'
import type { TenantRef } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import { buildAgentConfig } from '../../../resources/agents/config.ts'
import { agentStore } from '../../../resources/agents/store.ts'
import type { Limits } from '../../../tenants/limits/limits.ts'
import { toAgentCreate, toMultiagent } from './agent.ts'

export async function createAgent(
  { clock, limits }: Pick<Ground, 'clock'> & { limits: Limits },
  { db, tenant }: TenantRef,
  given: OpenAIAgentCreate,
): Promise<Agent> {
  const { config } = buildAgentConfig(toAgentCreate(given))
  const checkRoom = await limits.quotas.room(tenant, 'agents')
  const multiagent = toMultiagent(given.multi_agent, null)
  return db.write(async (tx) => {
    await checkRoom(tx, 1)
    return agentStore(tx).create(tenant, { ...config, multiagent }, {}, clock.now())
  })
}
