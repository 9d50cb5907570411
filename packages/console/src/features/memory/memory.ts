/** Memory stores, their memories and the versions of these: what the service tells, and what changes them. */
import type { QueryClient } from '@tanstack/react-query'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { memoryChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type {
  Memory,
  MemoryCreateBody,
  MemoryPrefix,
  MemoryStore,
  MemoryStoreCreateBody,
  MemoryUpdateBody,
  MemoryVersion,
} from '../../lib/api/types.ts'
import { memoryKey as memory } from '../../lib/api/memory-versions.ts'
import { pagesQuery } from '../../lib/list-state.ts'

export const storesQuery = (withArchived: boolean) =>
  pagesQuery<MemoryStore>([...memory, 'stores', withArchived], (page, signal) =>
    api.GET('/v1/memory_stores', {
      params: { query: { ...page, ...(withArchived && { include_archived: 'true' as const }) } },
      signal,
    }),
  )

export const storeQuery = (id: string) =>
  queryOptions({
    queryKey: [...memory, 'store', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/memory_stores/{id}', { params: { path: { id } }, signal })),
  })

/** What lies directly below a path: memories, and paths with more below them. */
export const folderQuery = (id: string, path_prefix: string) =>
  pagesQuery<Memory | MemoryPrefix>([...memory, 'folder', id, path_prefix], (page, signal) =>
    api.GET('/v1/memory_stores/{id}/memories', {
      params: { path: { id }, query: { ...page, depth: '1', path_prefix } },
      signal,
    }),
  )

export const memoryQuery = (id: string, memory_id: string) =>
  queryOptions({
    queryKey: [...memory, 'one', id, memory_id],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/memory_stores/{id}/memories/{memory_id}', {
          params: { path: { id, memory_id } },
          signal,
        }),
      ),
  })

/** The newest first; of one memory, or of all of the store. */
export const versionsQuery = (id: string, memory_id: string | undefined) =>
  pagesQuery<MemoryVersion>([...memory, 'versions', id, memory_id], (page, signal) =>
    api.GET('/v1/memory_stores/{id}/memory_versions', {
      params: { path: { id }, query: { ...page, ...(memory_id !== undefined && { memory_id }) } },
      signal,
    }),
  )

const renew = (client: QueryClient) => () => {
  void client.invalidateQueries({ queryKey: memory })
  void client.invalidateQueries(memoryChoices)
}

export function useStoreCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: MemoryStoreCreateBody) => dataOf(api.POST('/v1/memory_stores', { body })),
    onSuccess: renew(client),
  })
}

export function useStoreChange(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { name: string; description: string }) =>
      dataOf(api.POST('/v1/memory_stores/{id}', { params: { path: { id } }, body })),
    onSuccess: renew(client),
  })
}

export function useStoreArchive(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      dataOf(api.POST('/v1/memory_stores/{id}/archive', { params: { path: { id } } })),
    onSuccess: renew(client),
  })
}

export function useStoreDelete(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.DELETE('/v1/memory_stores/{id}', { params: { path: { id } } })),
    onSuccess: renew(client),
  })
}

export function useMemoryCreate(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: MemoryCreateBody) =>
      dataOf(api.POST('/v1/memory_stores/{id}/memories', { params: { path: { id } }, body })),
    onSuccess: renew(client),
  })
}

/** After a refusal the memory is read again: somebody else may have changed it. */
export function useMemorySave({ memory_store_id: id, id: memory_id }: Memory) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: MemoryUpdateBody) =>
      dataOf(
        api.POST('/v1/memory_stores/{id}/memories/{memory_id}', {
          params: { path: { id, memory_id } },
          body,
        }),
      ),
    onSuccess: (saved) => {
      client.setQueryData(memoryQuery(id, memory_id).queryKey, saved)
      renew(client)()
    },
    onError: () => client.invalidateQueries(memoryQuery(id, memory_id)),
  })
}

/** Refused where the memory holds something else than what was read. */
export function useMemoryDelete({ memory_store_id: id, id: memory_id, content_sha256 }: Memory) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      dataOf(
        api.DELETE('/v1/memory_stores/{id}/memories/{memory_id}', {
          params: {
            path: { id, memory_id },
            query: { expected_content_sha256: content_sha256 },
          },
        }),
      ),
    onSuccess: renew(client),
    onError: () => client.invalidateQueries(memoryQuery(id, memory_id)),
  })
}

export function useRedaction(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (version_id: string) =>
      dataOf(
        api.POST('/v1/memory_stores/{id}/memory_versions/{version_id}/redact', {
          params: { path: { id, version_id } },
        }),
      ),
    onSuccess: renew(client),
  })
}
