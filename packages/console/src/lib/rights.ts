/** What the caller may do in the workspace that is shown: the service decides, and the page says so beforehand. */
import type { Role } from './api/types.ts'
import { createStore, useStore } from './store.ts'
import { words } from './words.ts'

export const ownRole = createStore<Role | undefined>(undefined)

/** Why this person may change nothing; undefined for those who may. */
export const useReadOnlyReason = (): string | undefined => reasonOf(useStore(ownRole))

const reasonOf = (role: Role | undefined): string | undefined =>
  role === 'viewer' || role === 'reviewer' ? words.rights[role] : undefined

/** The same for what starts or answers a session, which a reviewer may. */
export const useNoAnswerReason = (): string | undefined =>
  useStore(ownRole) === 'viewer' ? words.rights.viewer : undefined

/** The question whose answer changes when a role does. */
export const accountKey = ['account'] as const

/** From the fewest rights to the most. */
export const roles: readonly Role[] = ['viewer', 'reviewer', 'member', 'admin', 'owner']

const isAdmin = (role: Role | undefined): boolean => role === 'admin' || role === 'owner'

export const useIsAdmin = (): boolean => isAdmin(useStore(ownRole))

/** Why this person may not do what admins do; undefined for those who may, and while nobody knows. */
export function useNoAdminReason(): string | undefined {
  const role = useStore(ownRole)
  return role === undefined || isAdmin(role) ? undefined : words.rights.admin
}

/** The same for what owners do. */
export function useNoOwnerReason(): string | undefined {
  const role = useStore(ownRole)
  return role === undefined || role === 'owner' ? undefined : words.rights.owner
}
