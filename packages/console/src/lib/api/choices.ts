/** What fields of forms choose from: the things of the workspace by name. */
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'
import type { Agent, FileMetadata, ListedSkill, Model } from './types.ts'

/** More than anybody looks through, and one request. */
export const mostChoices = 200

/** Things that a field of a form chooses from. */
const choices = <Row>(
  name: string,
  ask: (signal: AbortSignal) => Promise<{ data?: { data: Row[] } }>,
) =>
  queryOptions({
    queryKey: ['choices', name],
    queryFn: async ({ signal }) => (await dataOf(ask(signal))).data,
    staleTime: 30_000,
  })

const query = { limit: mostChoices }
export const modelChoices = choices<Model>('models', (signal) =>
  api.GET('/v1/models', { params: { query }, signal }),
)
export const cardChoices = choices('cards', (signal) =>
  api.GET('/v1/ext/model_cards', { params: { query }, signal }),
)
export const skillChoices = choices<ListedSkill>('skills', (signal) =>
  api.GET('/v1/skills', { params: { query }, signal }),
)
export const agentChoices = choices<Agent>('agents', (signal) =>
  api.GET('/v1/agents', { params: { query }, signal }),
)
export const environmentChoices = choices('environments', (signal) =>
  api.GET('/v1/environments', { params: { query }, signal }),
)
export const memberChoices = choices('members', (signal) => api.GET('/v1/ext/members', { signal }))
export const memoryChoices = choices('memory stores', (signal) =>
  api.GET('/v1/memory_stores', { params: { query }, signal }),
)

export const vaultChoices = choices('vaults', (signal) =>
  api.GET('/v1/vaults', { params: { query }, signal }),
)
export const fileChoices = choices<FileMetadata>('files', (signal) =>
  api.GET('/v1/files', { params: { query }, signal }),
)
export const deploymentChoices = choices('deployments', (signal) =>
  api.GET('/v1/deployments', { params: { query: { limit: 100 } }, signal }),
)
export const keyChoices = choices('keys', (signal) =>
  api.GET('/v1/ext/api_keys', { params: { query }, signal }),
)
