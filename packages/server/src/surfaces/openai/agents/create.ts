/** Creates an agent of this surface in the workspace. */
import type { Agent } from '@steward/protocol/agents.ts'
import { advisorModel } from '@steward/protocol/multiagent.ts'
import type { OpenAIAgentCreate } from '@steward/protocol/openai/agents.ts'
import type { Queries, TenantRef } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import { buildAgentConfig } from '../../../resources/agents/config.ts'
import type { AgentRuleDeps } from '../../../resources/agents/rules.ts'
import { checkAgentRules } from '../../../resources/agents/rules.ts'
import { agentStore } from '../../../resources/agents/store.ts'
import type { Limits } from '../../../tenants/limits/limits.ts'
import { toAgentCreate, toMultiagent } from './agent.ts'

type CreateDeps = Pick<Ground, 'clock'> & Pick<AgentRuleDeps, 'resolveModel'> & { limits: Limits }

/** Checks what may not be checked in a unit. `create` creates the agent in a unit. */
export async function prepareAgent(
  { limits, resolveModel }: CreateDeps,
  tenant: string,
  given: OpenAIAgentCreate,
) {
  const { config } = buildAgentConfig(toAgentCreate(given))
  const multiagent = toMultiagent(given.multi_agent, null)
  const advisor = advisorModel(multiagent)
  await checkAgentRules({ limits, resolveModel }, tenant, { ...config, advisor })
  const checkRoom = await limits.quotas.room(tenant, 'agents')
  return {
    config,
    create: async (tx: Queries, now: number): Promise<Agent> => {
      await checkRoom(tx, 1)
      return agentStore(tx).create(tenant, { ...config, multiagent }, {}, now)
    },
  }
}

export async function createAgent(
  deps: CreateDeps,
  { db, tenant }: TenantRef,
  given: OpenAIAgentCreate,
): Promise<Agent> {
  const { create } = await prepareAgent(deps, tenant, given)
  return db.write((tx) => create(tx, deps.clock.now()))
}
