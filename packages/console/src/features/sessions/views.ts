/** Filters that a person has given a name. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { ChosenFilters } from '../../lib/filters.ts'

const views = ['views'] as const

export const viewsQuery = queryOptions({
  queryKey: views,
  queryFn: async ({ signal }) => (await dataOf(api.GET('/v1/ext/views', { signal }))).data,
})

export const filtersOfView = (text: string): ChosenFilters =>
  Object.fromEntries(new URLSearchParams(text))

const textOfView = (filters: ChosenFilters): string => new URLSearchParams(filters).toString()

export function useViewSave() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ name, filters }: { name: string; filters: ChosenFilters }) =>
      dataOf(
        api.POST('/v1/ext/views', {
          body: { name, noun: 'sessions', filters: textOfView(filters) },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: views }),
  })
}

export function useViewRemoval() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api.DELETE('/v1/ext/views/{id}', { params: { path: { id } } }),
    onSettled: () => client.invalidateQueries({ queryKey: views }),
  })
}
