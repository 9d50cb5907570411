/** The environments of the workspace, the work of their workers, and the keys of these. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { environmentChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type {
  ApiKey,
  Environment,
  EnvironmentCreateBody,
  EnvironmentUpdateBody,
  WorkItem,
} from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'

/** Beside the requests, as the address is read before the page is loaded. */
export const environmentTabs = ['workers', 'config', 'sessions'] as const
export type EnvironmentTab = (typeof environmentTabs)[number]

const environments = ['environments'] as const
/** The figures of workers are looked at again this often. */
const againMs = 5_000

export const environmentsQuery = (withArchived: boolean) =>
  pagesQuery<Environment>([...environments, 'list', withArchived], (page, signal) =>
    api.GET('/v1/environments', {
      params: { query: { ...page, ...(withArchived && { include_archived: 'true' as const }) } },
      signal,
    }),
  )

export const environmentQuery = (id: string) =>
  queryOptions({
    queryKey: [...environments, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/environments/{id}', { params: { path: { id } }, signal })),
  })

export const workFiguresQuery = (id: string) =>
  queryOptions({
    queryKey: [...environments, 'figures', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/environments/{id}/work/stats', { params: { path: { id } }, signal })),
    refetchInterval: againMs,
  })

export const workQuery = (id: string) => ({
  ...pagesQuery<WorkItem>([...environments, 'work', id], (page, signal) =>
    api.GET('/v1/environments/{id}/work', { params: { path: { id }, query: page }, signal }),
  ),
  refetchInterval: againMs,
})

const keysOfWorkers = (id: string) => [...environments, 'keys', id] as const

export const workerKeysQuery = (id: string) => ({
  ...pagesQuery<ApiKey>(keysOfWorkers(id), (page, signal) =>
    api.GET('/v1/ext/api_keys', { params: { query: { ...page, environment_id: id } }, signal }),
  ),
  refetchInterval: againMs,
})

/** Asks again for all that shows environments. */
function useChanged() {
  const client = useQueryClient()
  return (environment?: Environment) => {
    if (environment) client.setQueryData(environmentQuery(environment.id).queryKey, environment)
    void client.invalidateQueries({ queryKey: [...environments, 'list'] })
    void client.invalidateQueries(environmentChoices)
  }
}

export function useEnvironmentCreate() {
  const changed = useChanged()
  return useMutation({
    mutationFn: (body: EnvironmentCreateBody) => dataOf(api.POST('/v1/environments', { body })),
    onSuccess: changed,
  })
}

export function useEnvironmentSave() {
  const changed = useChanged()
  return useMutation({
    mutationFn: ({ id, body }: { id: string; body: EnvironmentUpdateBody }) =>
      dataOf(api.POST('/v1/environments/{id}', { params: { path: { id } }, body })),
    onSuccess: changed,
  })
}

export function useEnvironmentArchive() {
  const changed = useChanged()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.POST('/v1/environments/{id}/archive', { params: { path: { id } } })),
    onSuccess: changed,
  })
}

export function useEnvironmentDelete() {
  const changed = useChanged()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE('/v1/environments/{id}', { params: { path: { id } } })),
    onSuccess: () => changed(),
  })
}

type NewWorkerKey = { name: string; environment: string; reach: 'work' | 'sessions' }

export function useWorkerKeyCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ name, environment, reach }: NewWorkerKey) =>
      dataOf(api.POST('/v1/ext/api_keys', { body: { name, environment_id: environment, reach } })),
    onSuccess: (_, { environment }) =>
      client.invalidateQueries({ queryKey: keysOfWorkers(environment) }),
  })
}

export function useWorkerKeyRevoke(environment: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE('/v1/ext/api_keys/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keysOfWorkers(environment) }),
  })
}
