import {
  OpenAIAgentCreate,
  OpenAIAgentShown,
  OpenAIAgentUpdate,
} from '@steward/protocol/openai/agents.ts'
import { AfterQuery, OpenAIDeleted, OpenAIListOf } from '@steward/protocol/openai/lists.ts'
import type { AgentConfig } from '@steward/protocol/agents.ts'
import { recordBody } from '../../../ground/http/limits.ts'
import type { Route } from '../../../ground/http/route.ts'
import { section } from '../../../ground/http/section.ts'
import type { Ground } from '../../../ground/ground.ts'
import { archiveAgentDeployments } from '../../../capabilities/deployments/write.ts'
import { updateConfig } from '../../../resources/agents/config.ts'
import type { AgentRuleDeps } from '../../../resources/agents/rules.ts'
import { checkAgentRules } from '../../../resources/agents/rules.ts'
import { agentStore } from '../../../resources/agents/store.ts'
import type { Limits } from '../../../tenants/limits/limits.ts'
import { showOpenAIList, resolvePaging } from '../page.ts'
import { findAgent } from './find.ts'
import { toMultiagent, showAgent, toAgentUpdate } from './agent.ts'
import { createAgent } from './create.ts'

const agents = section('The OpenAI surface', ['workspace'], '/openai/v1/agents')
const answer = OpenAIAgentShown

export function agentRoutes(
  deps: Ground & Pick<AgentRuleDeps, 'resolveModel'> & { limits: Limits },
): Route[] {
  const { clock, limits, resolveModel } = deps
  return [
    agents.post(
      '',
      {
        summary: 'Create an agent',
        description: '`/v1/agents` shows the agent too.',
        body: OpenAIAgentCreate,
        limits: recordBody,
        answer,
      },
      async ({ db, tenant, body }) => showAgent(await createAgent(deps, { db, tenant }, body)),
    ),
    agents.get(
      '',
      { summary: 'List agents', query: AfterQuery, answer: OpenAIListOf(answer) },
      async ({ db, tenant, query }) => {
        const store = agentStore(db.read)
        const page = await resolvePaging(query, (id) => store.get(tenant, id))
        return showOpenAIList(await store.list(tenant, page, {}), showAgent)
      },
    ),
    agents.get('/:id', { summary: 'Get an agent', answer }, async ({ db, tenant, params }) =>
      showAgent(await findAgent(db.read, tenant, params.id)),
    ),
    agents.post(
      '/:id',
      {
        summary: 'Update an agent',
        description: 'Sessions that exist keep the agent as it was.',
        body: OpenAIAgentUpdate,
        limits: recordBody,
        answer,
      },
      async ({ db, tenant, params, body }) => {
        const now = await findAgent(db.read, tenant, params.id)
        const { model, mcp_servers } = toAgentUpdate(body, now)
        await checkAgentRules({ limits, resolveModel }, tenant, { model, mcp_servers })
        const change = async (kept: AgentConfig) => {
          const { config, tokens } = updateConfig(kept, toAgentUpdate(body, kept))
          const multiagent = toMultiagent(body.multi_agent, kept.multiagent)
          return { config: { ...config, multiagent }, tokens: tokens && {} }
        }
        const agent = await db.write((tx) =>
          agentStore(tx).update(tenant, params.id, undefined, change, clock.now()),
        )
        return showAgent(agent)
      },
    ),
    agents.delete(
      '/:id',
      {
        summary: 'Delete an agent',
        description: 'Archives it, and its deployments: sessions that exist keep it.',
        answer: OpenAIDeleted('agent.deleted'),
      },
      async ({ db, tenant, params }) => {
        await findAgent(db.read, tenant, params.id)
        await db.write(async (tx) => {
          const now = clock.now()
          await agentStore(tx).archive(tenant, params.id, now)
          await archiveAgentDeployments(tx, tenant, params.id, now)
        })
        return { id: params.id, deleted: true, object: 'agent.deleted' }
      },
    ),
  ]
}
