/** Versions of memories, and what each changed: for the page of a store and that of the session which made them. */
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'
import type { MemoryVersion } from './types.ts'

export const memoryKey = ['memory'] as const

export const versionQuery = (id: string, version_id: string) =>
  queryOptions({
    queryKey: [...memoryKey, 'version', id, version_id],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/memory_stores/{id}/memory_versions/{version_id}', {
          params: { path: { id, version_id } },
          signal,
        }),
      ),
  })

/** More than can be made of one memory in one moment. */
const fewVersions = 20

/** The version of the memory before this one, with its text; null for the first. */
export const previousQuery = (
  id: string,
  { id: version_id, memory_id, created_at }: MemoryVersion,
) =>
  queryOptions({
    queryKey: [...memoryKey, 'before', id, version_id],
    queryFn: async ({ signal, client }): Promise<MemoryVersion | null> => {
      const query = { memory_id, 'created_at[lte]': created_at, limit: fewVersions }
      const { data } = await dataOf(
        api.GET('/v1/memory_stores/{id}/memory_versions', {
          params: { path: { id }, query },
          signal,
        }),
      )
      const before = data[data.findIndex((each) => each.id === version_id) + 1]
      return before === undefined ? null : client.fetchQuery(versionQuery(id, before.id))
    },
  })
