/** The keys of the workspace. */
import { infiniteQueryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { ApiKey, ApiKeyCreateBody, RevokedKey } from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'

const keys = ['keys'] as const
/** Between two looks at the list, while somebody waits for the first use of a key. */
const watchMs = 2_000

const listQuery = pagesQuery<ApiKey>([...keys, 'list'], (page, signal) =>
  api.GET('/v1/ext/api_keys', { params: { query: page }, signal }),
)

/** `awaited`: a key whose first use somebody waits for. */
export const keysQuery = (awaited?: string) =>
  infiniteQueryOptions({
    ...listQuery,
    refetchInterval: ({ state }) => {
      const found = state.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === awaited)
      return found?.last_used_at === null && watchMs
    },
  })

/** For admins. `inactive`: keys that work again when somebody activates them. `archived`: keys that never do. */
export const revokedQuery = (status: 'inactive' | 'archived') =>
  pagesQuery<RevokedKey>([...keys, status], async ({ limit, page }, signal) => {
    const query = { status, limit, ...(page !== undefined && { after_id: page }) }
    const { data } = await api.GET('/v1/organizations/api_keys', { params: { query }, signal })
    if (data === undefined) return {}
    return { data: { data: data.data, next_page: data.has_more ? data.last_id : null } }
  })

export function useKeyActivate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(
        api.POST('/v1/organizations/api_keys/{id}', {
          params: { path: { id } },
          body: { status: 'active' },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: keys }),
  })
}

export function useKeyCreate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ApiKeyCreateBody) => dataOf(api.POST('/v1/ext/api_keys', { body })),
    // The list shows the key before anything waits for its use.
    onSuccess: () => client.invalidateQueries({ queryKey: keys }),
  })
}

export function useKeyRevoke() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE('/v1/ext/api_keys/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys }),
  })
}
