/** The agents of the workspace, and what their configuration may name. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { agentChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Agent, AgentCreateBody } from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'
import type { AgentDraft } from './draft.ts'
import { changesOf, draftOf, modelIdOf } from './draft.ts'

const agents = ['agents'] as const

export const agentsQuery = (withArchived: boolean) =>
  pagesQuery<Agent>([...agents, 'list', withArchived], (page, signal) =>
    api.GET('/v1/agents', {
      params: { query: { ...page, ...(withArchived && { include_archived: 'true' as const }) } },
      signal,
    }),
  )

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: [...agents, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/agents/{id}', { params: { path: { id } }, signal })),
  })

export const versionsQuery = (id: string) =>
  pagesQuery<Agent>([...agents, 'versions', id], (page, signal) =>
    api.GET('/v1/agents/{id}/versions', { params: { path: { id }, query: page }, signal }),
  )

/** Who made each version, by its number. */
export const creatorsQuery = (id: string) =>
  queryOptions({
    queryKey: [...agents, 'creators', id],
    queryFn: async ({ signal }) => {
      const { data } = await dataOf(
        api.GET('/v1/ext/agents/{id}/versions', {
          params: { path: { id }, query: { limit: 1_000 } },
          signal,
        }),
      )
      return new Map(
        data.map(({ version, created_by: by }) => [version, by?.name?.replace(/ <[^>]*>$/, '')]),
      )
    },
  })

/** About how many tokens the configuration takes of each request. */
export const estimateQuery = ({ model, system, tools }: AgentDraft) =>
  queryOptions({
    queryKey: [...agents, 'estimate', model, system, tools],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/v1/ext/token_estimates', {
          body: { model: model ?? '', system: system ?? '', ...(tools && { tools }) },
          signal,
        }),
      ),
    enabled: modelIdOf(model) !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    // The key holds a whole prompt.
    gcTime: 10_000,
  })

/** Connects to an MCP server as a session would, and lists its tools. */
export function useServerTrial() {
  return useMutation({
    mutationFn: ({ name, url }: { name: string; url: string }) =>
      dataOf(api.POST('/v1/ext/mcp_probes', { body: { name, url } })),
  })
}

export function useAgentSave() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, version, changes }: { id: string; version: number; changes: AgentDraft }) =>
      dataOf(
        api.POST('/v1/agents/{id}', {
          params: { path: { id } },
          body: { ...changes, version },
        }),
      ),
    onError: (_, { id }) => client.invalidateQueries(agentQuery(id)),
    onSuccess: (agent) => {
      client.setQueryData(agentQuery(agent.id).queryKey, agent)
      void client.invalidateQueries({ queryKey: [...agents, 'list'] })
      void client.invalidateQueries(agentChoices)
      void client.invalidateQueries({ queryKey: [...agents, 'versions', agent.id] })
      void client.invalidateQueries({ queryKey: [...agents, 'creators', agent.id] })
    },
  })
}

export function useAgentCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: AgentCreateBody) => dataOf(api.POST('/v1/agents', { body })),
    onSuccess: (agent) => {
      client.setQueryData(agentQuery(agent.id).queryKey, agent)
      void client.invalidateQueries({ queryKey: agents })
      void client.invalidateQueries(agentChoices)
    },
  })
}

export function useAgentArchive() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.POST('/v1/agents/{id}/archive', { params: { path: { id } } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: agents })
      void client.invalidateQueries(agentChoices)
    },
  })
}

/** Begins a session of the agent with what the form says, whether it was saved or not. */
export function useTrial() {
  return useMutation({
    mutationFn: (trial: { agent: Agent; draft: AgentDraft; environment: string }) => {
      const { agent, draft, environment } = trial
      // What is the same is left to the agent: its servers have tokens that no answer shows.
      const { model, system, tools, mcp_servers, skills } = changesOf(draftOf(agent), draft)
      return dataOf(
        api.POST('/v1/sessions', {
          body: {
            agent: {
              type: 'agent_with_overrides',
              id: agent.id,
              version: agent.version,
              ...(model !== undefined && { model }),
              ...(system !== undefined && { system }),
              ...(tools !== undefined && { tools }),
              ...(mcp_servers !== undefined && { mcp_servers }),
              ...(skills !== undefined && { skills }),
            },
            environment_id: environment,
          },
        }),
      )
    },
  })
}
