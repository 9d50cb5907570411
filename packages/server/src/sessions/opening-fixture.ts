/** For tests: what a session is created from, without models and limits. */
import { systemClock } from '@steward/base/time.ts'
import { AgentCreate } from '@steward/protocol/agents.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import { createSeal } from '../ground/core/seal.ts'
import type { Database } from '../ground/database/database.ts'
import { configOf } from '../resources/agents/config.ts'
import { agentStore } from '../resources/agents/store.ts'
import { environmentStore } from '../resources/environments/store.ts'
import { tenant } from './log/fixture.ts'
import type { OpenSessionDeps } from './open.ts'
import { resourceKinds } from './resources/kinds.ts'

export function openingOf(): OpenSessionDeps {
  const seal = createSeal('a root secret of a test')
  return {
    seal,
    clock: systemClock,
    kinds: resourceKinds({ seal, repositoryHosts: [], storeAccess: 'read_write' }),
    refuseImage: () => undefined,
    refusePackages: () => undefined,
    workerInputs: [],
    resolveModel: async () => ({ ok: false, message: 'no model is asked' }),
    limits: { quotas: { daily: async () => async () => {} } },
    keeping: { blobs: { get: () => Promise.reject(new Error('no bytes are asked for')) } },
  }
}

/** The ids of an agent and of an environment. */
export async function agentIn(database: Database): Promise<{ agent: string; environment: string }> {
  const { config } = configOf(AgentCreate.parse({ name: 'a', model: 'offline', tools: [] }))
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
