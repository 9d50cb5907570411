/** The people of the workspace, and who is invited. */
import type { QueryClient } from '@tanstack/react-query'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { memberChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Invitation, InvitationCreateBody, Member, Role } from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'
import { accountKey, roles } from '../../lib/rights.ts'
import { keepTabWorkspace } from '../../lib/tab.ts'
import { say } from '../../lib/toasts.ts'

const members = ['members'] as const
const invitations = ['invitations'] as const

export const membersQuery = queryOptions({
  queryKey: members,
  queryFn: async ({ signal }) => (await dataOf(api.GET('/v1/ext/members', { signal }))).data,
})

export const invitationsQuery = pagesQuery<Invitation>(invitations, (page, signal) =>
  api.GET('/v1/ext/invitations', { params: { query: page }, signal }),
)

/** Invitations of a person end with a change of role, and the caller's own role may be the one that changed. */
const lookAgain = (client: QueryClient) =>
  Promise.all(
    [members, invitations, memberChoices.queryKey, accountKey].map((queryKey) =>
      client.invalidateQueries({ queryKey }),
    ),
  )

export const isSmaller = (role: Role, than: Role): boolean =>
  roles.indexOf(role) < roles.indexOf(than)

/** `true`, or nothing: the service refuses the word where no key can be meant. */
const revoking = (isSo: boolean) => ({ query: isSo ? { revoke_keys: 'true' as const } : {} })

export function useRoleChange() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: { id: string; role: Role; revokesKeys: boolean }) =>
      dataOf(
        api.POST('/v1/ext/members/{id}', {
          params: { path: { id: change.id }, ...revoking(change.revokesKeys) },
          body: { role: change.role },
        }),
      ),
    onSuccess: () => lookAgain(client),
  })
}

export function useMemberRemoval() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, revokesKeys }: { id: string; revokesKeys: boolean }) =>
      dataOf(
        api.DELETE('/v1/ext/members/{id}', {
          params: { path: { id }, ...revoking(revokesKeys) },
        }),
      ),
    onSuccess: () => lookAgain(client),
  })
}

/** Leaves the workspace that is shown. The page begins anew in another one. */
export function useLeave() {
  return useMutation({
    mutationFn: (revokesKeys: boolean) =>
      dataOf(api.POST('/v1/ext/auth/leave', { params: revoking(revokesKeys) })),
    onSuccess: () => {
      keepTabWorkspace(undefined)
      location.assign(document.baseURI)
    },
  })
}

export function useInvite() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: InvitationCreateBody) => dataOf(api.POST('/v1/ext/invitations', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: invitations }),
  })
}

const withdraw = (id: string) =>
  dataOf(api.DELETE('/v1/ext/invitations/{id}', { params: { path: { id } } }))

export function useWithdrawal() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: withdraw,
    onSuccess: () => client.invalidateQueries({ queryKey: invitations }),
  })
}

/** The link of an invitation is shown once: another one takes its place. */
export function useNewLink() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, email, role }: Invitation) => {
      const made = await dataOf(api.POST('/v1/ext/invitations', { body: { email, role } }))
      // The new link is shown whatever becomes of the old one, which stands in the list.
      await withdraw(id).catch(({ message }: Error) => say({ kind: 'failed', text: message }))
      return made
    },
    onSettled: () => client.invalidateQueries({ queryKey: invitations }),
  })
}

export const isLastOwner = (member: Member, all: readonly Member[]): boolean =>
  member.role === 'owner' && all.filter(({ role }) => role === 'owner').length === 1
