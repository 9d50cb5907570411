/** Forwards calls of MCP servers only while operator and workspace allow the server. */
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { Rules } from '../../../ground/core/rules/rules.ts'
import type { Forward } from '../inject/forward.ts'

/**
 * A list may have become shorter since the session began. A call is judged by the URL that the agent names; one that
 * the server leads to another origin, by its own.
 */
export const ruledForward = (forward: Forward, rules: Rules): Forward => ({
  ...forward,
  async forward(request, context, call) {
    if (call.caller !== 'rpc-outbound') {
      const { hostname: host, port, href } = call.named ?? request.url
      const message = await rules.refusal(context.tenant, 'mcp_servers', [href])
      const target = { host, port: Number(port) || 443, reason: 'not_allowed' } as const
      if (message !== undefined) throw new RequestRefused({ ...target, message })
    }
    return forward.forward(request, context, call)
  },
})
