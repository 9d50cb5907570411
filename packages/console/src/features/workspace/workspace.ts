/** The workspace that is shown. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import { accountKey } from '../../lib/rights.ts'
import { keepTabWorkspace } from '../../lib/tab.ts'

export const workspaceQuery = (id: string) =>
  queryOptions({
    queryKey: ['workspace', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/organizations/workspaces/{id}', { params: { path: { id } }, signal })),
  })

export function useRename(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (name: string) =>
      dataOf(
        api.POST('/v1/organizations/workspaces/{id}', {
          params: { path: { id } },
          body: { name },
        }),
      ),
    onSuccess: (workspace) => {
      client.setQueryData(workspaceQuery(id).queryKey, workspace)
      return client.invalidateQueries({ queryKey: accountKey })
    },
  })
}

/** The page begins anew, in another workspace of the person. */
export function useWorkspaceArchive(id: string) {
  return useMutation({
    mutationFn: () =>
      dataOf(api.POST('/v1/organizations/workspaces/{id}/archive', { params: { path: { id } } })),
    onSuccess: () => {
      keepTabWorkspace(undefined)
      location.assign(document.baseURI)
    },
  })
}
