/** How many tokens a prompt takes, by the estimate with which the service decides when it compacts. [models/estimate] */
import { estimateMethod, tokensOfText } from '@steward/harness/tokens.ts'
import { toolSpecs } from '@steward/harness/tools/tool-specs.ts'
import { TokenEstimateParams, TokenEstimateShown } from '@steward/protocol/token-estimates.ts'
import { recordBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { contextWindow } from '../../resources/model-cards/context-window.ts'

const estimates = section('Models', ['workspace'], '/v1/ext/token_estimates')

export const tokenEstimateRoutes = (): Route[] => [
  estimates.post(
    '',
    {
      summary: 'Estimate the tokens of a prompt',
      description:
        'Asks nobody. A request of a session also has what the service adds to the system prompt, the tools of MCP servers, and the conversation.',
      body: TokenEstimateParams,
      limits: recordBody,
      changesNothing: true,
      answer: TokenEstimateShown,
    },
    async ({ db, tenant, body: { model, system, tools, text } }) => {
      const entries = tools ?? []
      const described = toolSpecs(entries).map((tool) => tokensOfText(JSON.stringify(tool)))
      const parts = {
        system: tokensOfText(system ?? ''),
        tools: described.reduce((sum, each) => sum + each, 0),
        text: tokensOfText(text ?? ''),
      }
      const servers = entries.flatMap((entry) =>
        entry.type === 'mcp_toolset' ? [entry.mcp_server_name] : [],
      )
      return {
        type: 'token_estimate',
        tokens: parts.system + parts.tools + parts.text,
        parts,
        is_estimate: true,
        method: estimateMethod,
        not_counted: servers,
        window_tokens: await contextWindow(db.read, tenant, model),
      }
    },
  ),
]
