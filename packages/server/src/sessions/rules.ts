/** Refuses, at its creation, a session whose agents or environment name what is not allowed here. */
import type { Reads } from '../ground/database/database.ts'
import { checkAgentRules } from '../resources/agents/rules.ts'
import type { AgentRuleDeps } from '../resources/agents/rules.ts'
import { environmentStore } from '../resources/environments/store.ts'
import type { SessionModels, SessionRequest } from './create.ts'

export async function checkSessionRules(
  deps: AgentRuleDeps & { db: { read: Reads } },
  { tenant, models }: { tenant: string; models: SessionModels },
  asked: Pick<SessionRequest, 'environment_id'>,
): Promise<void> {
  const { rules } = deps.limits
  for (const { at, ...agent } of models.agents) await checkAgentRules(deps, tenant, agent, `${at}.`)
  for (const model of models.advisors)
    await checkAgentRules(deps, tenant, { model }, 'agent.multiagent.')
  const environment = asked.environment_id ?? models.environmentId
  if (!environment) return
  const names = async () => {
    const { base_image } = await environmentStore(deps.db.read).record(tenant, environment)
    return base_image === null ? undefined : ([base_image] as const)
  }
  await rules.check(tenant, 'images', names, 'environment.base_image')
}
