/** The views of an agent, as its address names them. */
export const agentTabs = ['config', 'versions', 'sessions'] as const
export type AgentTab = (typeof agentTabs)[number]
