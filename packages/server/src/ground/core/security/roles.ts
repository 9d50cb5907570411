/** Roles of a caller in a workspace, from the least right to the most. */
export const roles = ['viewer', 'reviewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** The role with more rights. */
export const widerRole = (a: Role | undefined, b: Role): Role =>
  a !== undefined && roles.indexOf(a) > roles.indexOf(b) ? a : b
