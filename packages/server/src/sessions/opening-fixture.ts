/** For tests: what a session is created from, without models, blobs and limits. */
import { AgentCreate } from '@steward/protocol/agents.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import type { Database, Databases } from '../ground/database/database.ts'
import { buildAgentConfig } from '../resources/agents/config.ts'
import { agentStore } from '../resources/agents/store.ts'
import { environmentStore } from '../resources/environments/store.ts'
import { tenant } from './log/fixture.ts'
import type { OpenSessionDeps } from './open.ts'
import { resourceKinds } from './resources/kinds.ts'
import { testGround } from '../ground/ground-fixture.ts'
import { limitsFor } from '../tenants/limits/limits.ts'
import { unusedKeeping } from '../ground/blobs/fixture.ts'
import type { Ground } from '../ground/ground.ts'

export function createOpening(
  over: Database | Databases,
  parts?: Partial<Ground>,
): OpenSessionDeps {
  const ground = testGround(over, parts)
  return {
    ...ground,
    kinds: resourceKinds({ seal: ground.seal, repositoryHosts: [], storeAccess: 'read_write' }),
    refuseImage: () => undefined,
    refusePackages: () => undefined,
    workerInputs: [],
    resolveModel: async () => ({ ok: false, message: 'no model is asked' }),
    limits: limitsFor('off', ground),
    keeping: unusedKeeping(ground.databases),
  }
}

/** The ids of an agent and of an environment. */
export async function agentIn(database: Database): Promise<{ agent: string; environment: string }> {
  const { config } = buildAgentConfig(AgentCreate.parse({ name: 'a', model: 'offline', tools: [] }))
  return database.write(async (tx) => {
    const environment = await environmentStore(tx).create(
      tenant,
      { ...emptyEnvironment, name: 'e' },
      0,
    )
    const agent = await agentStore(tx).create(tenant, config, {}, 0)
    return { agent: agent.id, environment: environment.id }
  })
}
