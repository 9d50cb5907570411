/** Who is calling, and what they may touch. */
import { forbidden } from '../core/errors.ts'

export type Principal =
  | { kind: 'workspace'; tenant: string; keyId: string; admin: boolean }
  | {
      kind: 'environment'
      tenant: string
      keyId: string
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
export type Caller = 'anyone' | 'workspace' | 'admin' | 'environment' | 'claim' | 'mcp'

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

export const isAdmin = (principal: Principal): boolean =>
  principal.kind === 'workspace' && principal.admin

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

/** Finds the caller of a request, or throws `unauthorized`. */
export type Authenticate = (header: (name: string) => string | undefined) => Promise<Principal>

export function mayCall(callers: readonly Caller[], principal: Principal): boolean {
  if (principal.kind !== 'workspace') return callers.includes(principal.kind)
  return callers.includes('workspace') || (principal.admin && callers.includes('admin'))
}
