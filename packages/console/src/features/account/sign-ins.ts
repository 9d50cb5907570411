/** A person's own account: sign-ins, the password, the end of it. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import { signInUrl } from '../../lib/place.ts'
import { keepTabWorkspace } from '../../lib/tab.ts'

const signIns = ['sign-ins'] as const

export const signInsQuery = queryOptions({
  queryKey: signIns,
  queryFn: async ({ signal }) => (await dataOf(api.GET('/v1/ext/auth/sign_ins', { signal }))).data,
})

export function useSignInEnd() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.DELETE('/v1/ext/auth/sign_ins/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: signIns }),
  })
}

export function usePasswordChange() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (change: { current_password: string; new_password: string }) => {
      // Its answer has no body.
      await api.POST('/v1/ext/auth/password', { body: change })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: signIns }),
  })
}

export function useAccountDelete() {
  return useMutation({
    mutationFn: ({ email, revokesKeys }: { email: string; revokesKeys: boolean }) =>
      dataOf(
        api.DELETE('/v1/ext/me', {
          params: {
            query: { confirm: email, ...(revokesKeys && { revoke_keys: 'true' as const }) },
          },
        }),
      ),
    onSuccess: () => {
      keepTabWorkspace(undefined)
      location.assign(signInUrl())
    },
  })
}
