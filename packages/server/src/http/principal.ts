/** Who is calling, and what they may touch. */
import { forbidden } from '../core/errors.ts'

export type Principal =
  | { kind: 'workspace'; tenant: string; keyId: string; admin: boolean }
  | { kind: 'environment'; tenant: string; keyId: string; environmentId: string }
  /** Whoever runs one work item, for as long as nobody else has claimed it. */
  | {
      kind: 'claim'
      tenant: string
      environmentId: string
      sessionId: string
      workId: string
      generation: number
      /** `expired`: its lease has run out; `stale`: it has ended, or another has it. Either may only beat and stop. */
      standing: 'current' | 'expired' | 'stale'
    }
  /** A token for one MCP server of one session. */
  | { kind: 'mcp'; tenant: string; sessionId: string; server: string }

/** Kinds of caller that a route names; `anyone` needs no credential. */
export type Caller = 'anyone' | 'workspace' | 'admin' | 'environment' | 'claim' | 'mcp'

/** What of its claim a route opens to a worker, which the path's parameters name. */
export type ClaimScope = 'work' | 'session' | 'skill' | 'store' | 'store write' | 'file'

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

/** Finds the caller of a request, or throws `unauthorized`. */
export type Authenticate = (header: (name: string) => string | undefined) => Promise<Principal>

export function mayCall(callers: readonly Caller[], principal: Principal): boolean {
  if (principal.kind !== 'workspace') return callers.includes(principal.kind)
  return callers.includes('workspace') || (principal.admin && callers.includes('admin'))
}
