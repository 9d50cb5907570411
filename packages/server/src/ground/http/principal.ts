/** Who is calling, and what they may touch. */
import { forbidden } from '../core/errors.ts'

/** What a person may do in a workspace. A key of the workspace has one of the first three. */
export const roles = ['viewer', 'member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export type Principal =
  | {
      kind: 'workspace'
      tenant: string
      keyId: string
      admin: boolean
      readOnly?: boolean
      name?: string
    }
  /** A person with a session cookie. Without a role: no workspace was chosen, and the tenant is empty. */
  | {
      kind: 'user'
      tenant: string
      userId: string
      signInId: string
      role: Role | null
      name?: string
    }
  | {
      kind: 'environment'
      tenant: string
      keyId: string
      /** Of the key. */
      name?: string
      environmentId: string
      /** `sessions`: on a claim's routes it stands for the claim that is live, memory stores excepted. */
      reach: 'work' | 'sessions'
    }
  /** Whoever runs one work item, for as long as nobody else has claimed it. */
  | {
      kind: 'claim'
      tenant: string
      environmentId: string
      sessionId: string
      workId: string
      generation: number
      /** The environment key that stands for the claim, if one does. */
      keyId?: string
      /** `expired`: its lease has run out; `stale`: it has ended, or another has it. Either may only beat and stop. */
      claimState: 'current' | 'expired' | 'stale'
    }
  /** A token for one MCP server of one session. */
  | { kind: 'mcp'; tenant: string; sessionId: string; server: string }

/** Kinds of caller that a route names; `anyone` needs no credential. */
export type CallerKind =
  | 'anyone'
  | 'workspace'
  | 'admin'
  | 'owner'
  /** A person who has signed in, in whichever workspace or none. */
  | 'user'
  | 'environment'
  | 'claim'
  | 'mcp'

/** What of its claim a route opens to a worker, which the path's parameters name. */
export type ClaimScope = 'work' | KeyScope | StoreScope
type StoreScope = 'store' | 'store write' | "session's stores"

/** What of claims a key of the environment opens as well, where it reaches sessions. */
type KeyScope = 'session' | 'skill' | 'file'
const keyScopes: readonly string[] = ['session', 'skill', 'file'] satisfies KeyScope[]
export const isKeyScope = (scope: ClaimScope | undefined): scope is KeyScope =>
  scope !== undefined && keyScopes.includes(scope)

export type ClaimPrincipal = Extract<Principal, { kind: 'claim' }>

/** Of a route that is a claim's alone. */
export function claimOf(principal: Principal): ClaimPrincipal {
  if (principal.kind !== 'claim') throw forbidden('only a claim reaches this')
  return principal
}

/** What each role opens, by what a route names as its callers. */
const opens: Record<Role, { reads: readonly CallerKind[]; changes: readonly CallerKind[] }> = {
  viewer: { reads: ['workspace'], changes: [] },
  member: { reads: ['workspace'], changes: ['workspace'] },
  admin: { reads: ['workspace', 'admin'], changes: ['workspace', 'admin'] },
  owner: { reads: ['workspace', 'admin', 'owner'], changes: ['workspace', 'admin', 'owner'] },
}

/** Null for a caller that has no role: its kind alone says what it opens. */
export function roleOf(principal: Principal): Role | null {
  if (principal.kind === 'user') return principal.role
  if (principal.kind !== 'workspace') return null
  if (principal.readOnly) return 'viewer'
  return principal.admin ? 'admin' : 'member'
}

const adminRoles: readonly (Role | null)[] = ['admin', 'owner']
export const isAdmin = (principal: Principal): boolean => adminRoles.includes(roleOf(principal))

/** The id under which a change is recorded: of the key, or of the person. */
export function actorOf(principal: Principal): string {
  if (principal.kind === 'user') return principal.userId
  return principal.kind === 'workspace' ? principal.keyId : ''
}

/** Whether the claim covers what the parameters of a path name. */
export type WithinClaim = (
  claim: ClaimPrincipal,
  scope: ClaimScope,
  params: Readonly<Record<string, string>>,
) => Promise<boolean>

/** The claim that such a key stands for on a route of this scope; undefined where none is live. */
export type ClaimByKey = (
  key: Extract<Principal, { kind: 'environment' }>,
  scope: KeyScope,
  params: Readonly<Record<string, string>>,
) => Promise<ClaimPrincipal | undefined>

/** Of a route, what decides who may call it. */
export type CallerRules = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  callers: readonly CallerKind[]
  /** `any`: the route passes on what somebody else answers. */
  answer: unknown
}

/** Finds the caller of a request, or throws `unauthorized`. */
export type Authenticate = (
  header: (name: string) => string | undefined,
  door: CallerRules,
) => Promise<Principal>

export function mayCall({ callers, method, answer }: CallerRules, principal: Principal): boolean {
  if (principal.kind === 'user' && callers.includes('user')) return true
  const role = roleOf(principal)
  if (role === null) return principal.kind !== 'user' && callers.includes(principal.kind)
  // A GET that is passed on uses the credential of a session: who only reads has no use of it.
  const isRead = method === 'get' && answer !== 'any'
  const opened = isRead ? opens[role].reads : opens[role].changes
  return opened.some((caller) => callers.includes(caller))
}
