/** Converts a request of `/openai/v1` to a change of a session. */
import type { OpenAISessionUpdate } from '@steward/protocol/openai/sessions.ts'
import type { Session } from '@steward/protocol/sessions.ts'
import { checkBudget } from '../../../sessions/create.ts'
import type { OpenSessionDeps } from '../../../sessions/open.ts'
import type { SessionChange } from '../../../sessions/update.ts'
import { toAgentOverrides, replacementPatch } from '../agents/agent.ts'
import { haveShell, toolsFor } from '../agents/tools.ts'

export function toSessionChange(
  given: OpenAISessionUpdate,
  { agent, metadata }: Session,
): SessionChange {
  const { spend_control } = given
  return {
    ...(given.agent ? { agent: agentChange(given.agent, agent) } : {}),
    ...(given.metadata === undefined
      ? {}
      : { metadata: replacementPatch(metadata, given.metadata ?? {}) }),
    ...(spend_control === undefined ? {} : { budget: toBudget(spend_control?.limit ?? null) }),
  }
}

/** A session keeps the tools that its environment brings. */
function agentChange(
  given: NonNullable<OpenAISessionUpdate['agent']>,
  kept: Session['agent'],
): SessionChange['agent'] {
  const { model, tools, mcp_servers } = toAgentOverrides(given, kept)
  return {
    ...(model ? { model } : {}),
    ...(tools ? { tools: toolsFor(tools, haveShell(kept.tools)), mcp_servers } : {}),
  }
}

export const toBudget = (cents: number | null): SessionChange['budget'] =>
  cents === null
    ? null
    : { type: 'limit', max_list_cost: { amount: String(cents), currency: 'USD' } }

/** Throws when a session whose model has no price gets a budget. */
export const checkPrice = (
  { resolveModel }: OpenSessionDeps,
  tenant: string,
  { agent }: Session,
  change: SessionChange,
): Promise<void> => {
  const models = {
    agents: [{ model: change.agent?.model ?? agent.model, at: 'agent' }],
    advisors: [],
  }
  return checkBudget({ resolveModel, tenant, models })
}
