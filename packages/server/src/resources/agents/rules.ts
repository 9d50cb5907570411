/** Refuses, at the door, what an agent may not name here. */
import type { McpServer, ModelRef } from '@steward/protocol/agents.ts'
import type { MultiagentParams } from '@steward/protocol/multiagent.ts'
import { isAdvisor } from '@steward/protocol/multiagent.ts'
import { stdioName } from '../../ground/core/rules/patterns.ts'
import type { RuledNames, Rules } from '../../ground/core/rules/rules.ts'

/** As a port: the room of model cards is beside this one. */
type FindNames = (
  tenant: string,
  ref: ModelRef,
) => Promise<{ ok: true; names: RuledNames } | { ok: false }>

export type AgentRuleDeps = { limits: { rules: Rules }; resolveModel: FindNames }

type NamedServer = Pick<McpServer, 'name' | 'url'>
type NamedThings = {
  model?: ModelRef | undefined
  mcp_servers?: readonly NamedServer[] | null | undefined
  /** The model that the agent asks for advice. */
  advisor?: string | undefined
}

export const namesOfServer = ({ name, url }: NamedServer): RuledNames => [url || stdioName(name)]

/** `at`: the place of the agent in the request, with a dot behind. */
export async function checkAgentRules(
  { limits: { rules }, resolveModel }: AgentRuleDeps,
  tenant: string,
  { model, mcp_servers, advisor }: NamedThings,
  at = '',
): Promise<void> {
  const checkModel = (ref: ModelRef, field: string) =>
    rules.check(tenant, 'models', () => namesOf(ref), `${at}${field}`)

  /** A model that nothing serves yet has the name that the agent has for it. */
  async function namesOf(ref: ModelRef): Promise<RuledNames> {
    const found = await resolveModel(tenant, ref)
    return found.ok ? found.names : [typeof ref === 'string' ? ref : ref.id]
  }

  if (model !== undefined) await checkModel(model, 'model')
  if (advisor !== undefined) await checkModel(advisor, 'multiagent')
  for (const [index, server] of (mcp_servers ?? []).entries())
    await rules.check(tenant, 'mcp_servers', namesOfServer(server), `${at}mcp_servers.${index}`)
}

/** The advisor that a request names. */
export function advisorIn(multiagent: MultiagentParams | null | undefined): string | undefined {
  if (!multiagent) return undefined
  if (multiagent.type === 'coordinator')
    return multiagent.agents.flatMap((each) => (isAdvisor(each) ? each.model : []))[0]
  return multiagent.advisor?.type === 'enabled' ? multiagent.advisor.model : undefined
}
