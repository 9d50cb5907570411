/**
 * Narrows the web tools of an agent to what the agent that has started its thread may reach too. Otherwise an agent
 * could get around its own lists by starting another one. [threads/web-lists]
 */
import { commonDomains } from '@steward/harness/tools/domains.ts'
import type { Tools, Toolset } from '@steward/protocol/tools.ts'

type ToolConfig = NonNullable<Toolset['configs']>[number]
const webTools = ['web_fetch', 'web_search'] as const

/** Both arguments have all defaults filled in. */
export function withWebLists(tools: Tools, starter: Tools): Tools {
  const limits = starter.find((tool) => tool.type === 'agent_toolset_20260401')?.configs ?? []
  return tools.map((tool) => {
    if (tool.type !== 'agent_toolset_20260401') return tool
    const configs = tool.configs ?? []
    const others = configs.filter(({ name }) => webTools.every((web) => web !== name))
    const web = webTools.flatMap((name) => {
      const own = configs.find((each) => each.name === name)
      const limit = limits.find((each) => each.name === name)
      if (!limit) return own ? [own] : []
      return [narrowed(own ?? { name, type: name, ...tool.default_config }, limit)]
    })
    return { ...tool, configs: [...others, ...web] }
  })
}

/** Lists of allowed domains are intersected, and lists of blocked domains united. Other settings are the agent's own. */
const narrowed = (own: ToolConfig, limit: ToolConfig): ToolConfig => ({
  ...own,
  allowed_domains: commonDomains(own.allowed_domains, limit.allowed_domains),
  blocked_domains: [...(own.blocked_domains ?? []), ...(limit.blocked_domains ?? [])],
  max_content_tokens: own.max_content_tokens ?? limit.max_content_tokens,
  user_location: own.user_location ?? limit.user_location,
})
