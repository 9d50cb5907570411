/** What the caller may do in the workspace that is shown: the service decides, and the page says so beforehand. */
import type { Role } from './api/types.ts'
import { createStore, useStore } from './store.ts'
import { words } from './words.ts'

export const ownRole = createStore<Role | undefined>(undefined)

/** Why this person may change nothing; undefined for those who may. */
export const useReadOnlyReason = (): string | undefined =>
  useStore(ownRole) === 'viewer' ? words.rights.viewer : undefined
