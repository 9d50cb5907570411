/** What the target of an automation brings with it: an agent and files that are described in place are stored. */
import type { Agent } from '@steward/protocol/agents.ts'
import type { OpenAITarget } from '@steward/protocol/openai/automations.ts'
import type { TenantRef } from '../../../ground/database/database.ts'
import { agentStore } from '../../../resources/agents/store.ts'
import { createAgent } from '../agents/create.ts'
import { findAgent } from '../agents/find.ts'
import type { FileDeps } from '../environments/inline-files.ts'
import { withStoredFiles } from '../environments/inline-files.ts'
import type { NewSessionTarget, TargetFields } from './automation.ts'
import { toExistingSession, toNewSession } from './automation.ts'

/** Runs `work` with the fields of the target. When `work` fails, what was stored for it is removed again. */
export async function withTarget<Made>(
  deps: FileDeps,
  ref: TenantRef,
  target: OpenAITarget,
  work: (fields: TargetFields) => Promise<Made>,
): Promise<Made> {
  if (target.type === 'existing_session')
    return work(await toExistingSession(ref, target, deps.clock.now()))
  const { environment } = target
  return withAgent(deps, ref, target, async (agent) => {
    if (environment.type === 'none')
      return work(await toNewSession(ref, { ...target, agent, environment }))
    return withStoredFiles(deps, ref, environment, async (named) =>
      work(await toNewSession(ref, { ...target, agent, environment: named })),
    )
  })
}

/** An agent that is described in place becomes an agent of the workspace. */
async function withAgent<Made>(
  deps: FileDeps,
  ref: TenantRef,
  { agent_id, agent: described }: NewSessionTarget,
  work: (agent: Agent) => Promise<Made>,
): Promise<Made> {
  const { db, tenant } = ref
  if (!described) return work(await findAgent(db.read, tenant, agent_id ?? ''))
  const agent = await createAgent(deps, ref, described)
  try {
    return await work(agent)
  } catch (error) {
    await db.write((tx) => agentStore(tx).archive(tenant, agent.id, deps.clock.now()))
    throw error
  }
}
