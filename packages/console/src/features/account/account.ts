/** Who looks at the page, and in which workspace. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import { ApiError } from '../../lib/api/refusal.ts'
import type { Me } from '../../lib/api/types.ts'
import { accountKey } from '../../lib/rights.ts'
import { signInUrl } from '../../lib/place.ts'
import { keepTabKey, keepTabWorkspace, tabWorkspace } from '../../lib/tab.ts'

/** The workspace that this tab showed may no longer be one of the person's: another one is shown. */
function leaveWorkspace(error: unknown): never {
  const isGone = error instanceof ApiError && error.status === 403
  if (isGone && tabWorkspace() !== undefined) {
    keepTabWorkspace(undefined)
    location.reload()
  }
  throw error
}

export const accountQuery = queryOptions({
  queryKey: accountKey,
  queryFn: async () => {
    const me = await dataOf(api.GET('/v1/ext/me')).catch(leaveWorkspace)
    // From now on this tab names its workspace: what another tab chooses is nothing to it.
    if (me.user && tabWorkspace() === undefined) keepTabWorkspace(workspaceOf(me)?.id)
    return me
  },
  staleTime: 60_000,
})

/** The workspace that this tab shows. */
export function workspaceOf({ workspaces, active_workspace_id: active }: Me) {
  const id = tabWorkspace() ?? active
  return workspaces.find((each) => each.id === id) ?? workspaces[0]
}

/** Shows another workspace in this tab, and in tabs that are opened from now on. */
export function useWorkspaceChoice() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.POST('/v1/ext/auth/workspace', { body: { workspace_id: id } })),
    onSuccess: (_, id) => {
      keepTabWorkspace(id)
      client.clear()
      location.assign(document.baseURI)
    },
  })
}

export function useSignOut() {
  return useMutation({
    mutationFn: () => api.POST('/v1/ext/auth/sign_out'),
    onSettled: () => {
      keepTabWorkspace(undefined)
      location.assign(signInUrl())
    },
  })
}

export function forgetKey(): void {
  keepTabKey(undefined)
  location.assign(signInUrl())
}

/** Tries a key. It is kept for the tab when the service knows it. */
export async function openWithKey(key: string): Promise<void> {
  keepTabKey(key)
  try {
    await api.GET('/v1/ext/me')
  } catch (error) {
    keepTabKey(undefined)
    throw error
  }
}
