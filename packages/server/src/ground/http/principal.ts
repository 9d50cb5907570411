/** The kinds of callers and their rights. */
import { forbidden } from '../core/errors.ts'
import type { Role } from '../core/security/roles.ts'
import type { CallerKind, RoleOperation } from './permissions.ts'
import { permissions } from './permissions.ts'

export type Principal =
  | {
      kind: 'workspace'
      tenant: string
      keyId: string
      admin: boolean
      readOnly?: boolean
      name?: string
    }
  /** A person with a session cookie. Without a chosen workspace, role is null and tenant is empty. */
  | {
      kind: 'user'
      tenant: string
      userId: string
      signInId: string
      role: Role | null
      name?: string
    }
  /** A person or a service with a token of a company's identity provider. */
  | {
      kind: 'subject'
      tenant: string
      subjectId: string
      /** The hash of the token, for what it has open. */
      tokenHash: string
      role: Role
      name: string
    }
  /** A client that acts for a person in one workspace, by OAuth. The role is the person's own at this moment. */
  | {
      kind: 'login'
      tenant: string
      keyId: string
      /** The person, or the subject of a company's token that was exchanged for the login. */
      userId: string
      isSubject: boolean
      role: Role
      name?: string
    }
  | {
      kind: 'environment'
      tenant: string
      keyId: string
      /** The name of the key. */
      name?: string
      environmentId: string
      /** `sessions`: on a claim's routes the key stands for the claim that is live, except on memory stores. */
      reach: 'work' | 'sessions'
    }
  /** The worker that runs one work item, until another worker claims the item. */
  | {
      kind: 'claim'
      tenant: string
      environmentId: string
      sessionId: string
      workId: string
      generation: number
      /** The environment key that stands for the claim, if any. */
      keyId?: string
      /** `expired`: the lease has run out. `stale`: ended, or claimed by another. Both may only beat and stop. */
      claimState: 'current' | 'expired' | 'stale'
    }
  /** A token for one MCP server of one session. */
  | { kind: 'mcp'; tenant: string; sessionId: string; server: string }

/** The part of a claim that a route opens to the worker. The path's parameters name the object. */
export type ClaimScope = 'work' | KeyScope | StoreScope
type StoreScope = 'store' | 'store write' | "session's stores"

/** The parts of a claim that an environment key with reach `sessions` opens too. */
type KeyScope = 'session' | 'skill' | 'file'
const keyScopes: readonly string[] = ['session', 'skill', 'file'] satisfies KeyScope[]
export const isKeyScope = (scope: ClaimScope | undefined): scope is KeyScope =>
  scope !== undefined && keyScopes.includes(scope)

export type ClaimPrincipal = Extract<Principal, { kind: 'claim' }>
export type LoginPrincipal = Extract<Principal, { kind: 'login' }>

/** The claim of a call. Throws for other callers. */
export function requireClaim(principal: Principal): ClaimPrincipal {
  if (principal.kind !== 'claim') throw forbidden('only a claim reaches this')
  return principal
}

/** The role of a caller. Null for a kind of caller without roles. */
export function roleOf(principal: Principal): Role | null {
  if (principal.kind === 'user' || principal.kind === 'login' || principal.kind === 'subject')
    return principal.role
  if (principal.kind !== 'workspace') return null
  if (principal.readOnly) return 'viewer'
  return principal.admin ? 'admin' : 'member'
}

const adminRoles: readonly (Role | null)[] = ['admin', 'owner']
export const isAdmin = (principal: Principal): boolean => adminRoles.includes(roleOf(principal))

/** True for a subject of a company's provider, by its token or by a login that the token was exchanged for. */
export const isSubject = (principal: Principal): boolean =>
  principal.kind === 'subject' || (principal.kind === 'login' && principal.isSubject)

/** The person who calls, by a browser or by a client. Undefined for other callers. */
export const personIdOf = (principal: Principal): string | undefined =>
  principal.kind === 'user' || (principal.kind === 'login' && !principal.isSubject)
    ? principal.userId
    : undefined

/** The id that a change records: of the key, of the person or of the subject. Empty for other callers. */
export function actorOf(principal: Principal): string {
  const person = personIdOf(principal)
  if (person !== undefined) return person
  if (principal.kind === 'login') return principal.userId
  if (principal.kind === 'subject') return principal.subjectId
  return principal.kind === 'workspace' ? principal.keyId : ''
}

/** Returns true when the claim covers the object that the path's parameters name. */
export type WithinClaim = (
  claim: ClaimPrincipal,
  scope: ClaimScope,
  params: Readonly<Record<string, string>>,
) => Promise<boolean>

/** The live claim that an environment key stands for on a route of this scope. Undefined: none is live. */
export type ClaimByKey = (
  key: Extract<Principal, { kind: 'environment' }>,
  scope: KeyScope,
  params: Readonly<Record<string, string>>,
) => Promise<ClaimPrincipal | undefined>

/** The fields of a route that decide who may call it. */
export type CallerRules = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  callers: readonly CallerKind[]
  /** `any`: the route passes on an answer of another server. */
  answer: unknown
  changesNothing?: boolean
  operation?: RoleOperation
}

/** Finds the caller of a request. Throws `unauthorized`. */
export type Authenticate = (
  header: (name: string) => string | undefined,
  authentication: CallerRules,
) => Promise<Principal>

export function mayCall(rules: CallerRules, principal: Principal): boolean {
  const { callers, method, answer, changesNothing = false } = rules
  if (principal.kind === 'user' && callers.includes('user')) return true
  const role = roleOf(principal)
  if (role === null) return callers.some((caller) => caller !== 'user' && caller === principal.kind)
  // A GET that is passed on uses a credential of the session, which a viewer may not use.
  const isRead = changesNothing || (method === 'get' && answer !== 'any')
  const { reads, changes, operations } = permissions[role]
  const isOpen = (isRead ? reads : changes).some((caller) => callers.includes(caller))
  return isOpen || (rules.operation !== undefined && operations.includes(rules.operation))
}
