/**
 * What the target of an automation brings with it. An agent, an environment and files that are described in place are
 * stored in the unit that keeps the automation.
 */
import type { OpenAITarget } from '@steward/protocol/openai/automations.ts'
import type { TenantRef } from '../../../ground/database/database.ts'
import { prepareAgent } from '../agents/create.ts'
import { findAgent } from '../agents/find.ts'
import type { FileDeps } from '../environments/inline-files.ts'
import { withStagedFiles } from '../environments/inline-files.ts'
import type { NewSessionTarget, TargetAgent, TargetFields } from './automation.ts'
import { toExistingSession, toNewSession } from './automation.ts'

/** Runs `work` with the fields of the target. */
export async function withTarget<Made>(
  deps: FileDeps,
  ref: TenantRef,
  target: OpenAITarget,
  work: (fields: TargetFields) => Promise<Made>,
): Promise<Made> {
  if (target.type === 'existing_session')
    return work(await toExistingSession(ref, target, deps.clock.now()))
  const { environment } = target
  const agent = await agentOf(deps, ref, target)
  if (environment.type === 'none')
    return work(await toNewSession(ref, { ...target, agent, environment }))
  return withStagedFiles(deps, ref.tenant, environment, async (named, keepFiles) =>
    work(await toNewSession(ref, { ...target, agent, environment: named, keepFiles })),
  )
}

/** An agent that is described in place becomes an agent of the workspace. */
async function agentOf(
  deps: FileDeps,
  { db, tenant }: TenantRef,
  { agent_id, agent: described }: NewSessionTarget,
): Promise<TargetAgent> {
  if (!described) return findAgent(db.read, tenant, agent_id ?? '')
  const { config, create } = await prepareAgent(deps, tenant, described)
  const { model, mcp_servers, tools, skills } = config
  return { tools, skills, named: { model, mcp_servers }, create }
}
