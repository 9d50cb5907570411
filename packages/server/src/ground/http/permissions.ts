/** What each role may call. The router, the isolation walk and the messages read this one table. */
import type { Role } from '../core/security/roles.ts'

/** Kinds of callers that a route names. `anyone` needs no credential. */
export type CallerKind =
  | 'anyone'
  | 'workspace'
  | 'admin'
  | 'owner'
  /** A signed-in person, with or without a workspace. */
  | 'user'
  | 'environment'
  | 'claim'
  | 'mcp'

/** A change that a route names, because a role may make it and no other change. */
export type RoleOperation = 'start a session' | 'answer a session'

type Permissions = {
  /** The kinds of callers whose routes the role may read. */
  reads: readonly CallerKind[]
  /** The kinds of callers whose routes the role may call for a change. */
  changes: readonly CallerKind[]
  /** Further changes. */
  operations: readonly RoleOperation[]
}

export const permissions: Readonly<Record<Role, Permissions>> = {
  viewer: { reads: ['workspace'], changes: [], operations: [] },
  reviewer: {
    reads: ['workspace'],
    changes: [],
    operations: ['start a session', 'answer a session'],
  },
  member: { reads: ['workspace'], changes: ['workspace'], operations: [] },
  admin: { reads: ['workspace', 'admin'], changes: ['workspace', 'admin'], operations: [] },
  owner: {
    reads: ['workspace', 'admin', 'owner'],
    changes: ['workspace', 'admin', 'owner'],
    operations: [],
  },
}
