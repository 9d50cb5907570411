/** Finds the caller of a route by the credential in its headers. */
import { forbidden, unauthorized } from '../core/errors.ts'
import type {
  Authenticate,
  ClaimByKey,
  ClaimPrincipal,
  Principal,
  WithinClaim,
} from './principal.ts'
import { isKeyScope, mayCall } from './principal.ts'
import { callerRefusal } from './refusal.ts'
import type { Route } from './route.ts'

export type CallerDeps = {
  authenticate: Authenticate
  withinClaim: WithinClaim
  claimByKey: ClaimByKey
}

export type Header = (name: string) => string | undefined

/** The caller of a route that needs no credential. */
export const anonymousPrincipal: Principal = {
  kind: 'workspace',
  tenant: '',
  keyId: '',
  admin: false,
}

/**
 * Throws for a caller that may not call the route, or that names another workspace than the credential's. `count`
 * counts the request of a known caller before any other refusal.
 */
export async function identifyCaller(
  header: Header,
  route: Route,
  params: Record<string, string>,
  deps: CallerDeps,
  count: (principal: Principal) => void | Promise<void>,
): Promise<Principal> {
  if (route.callers.includes('anyone')) return anonymousPrincipal
  const caller = await deps.authenticate(header, route)
  const principal = await standsFor(caller, route, params, deps)
  const counting = count(principal)
  if (counting) await counting
  if (!mayCall(route, principal)) throw callerRefusal(route, principal)
  if (principal.kind !== 'user') checkWorkspace(header, principal.tenant)
  if (principal.kind === 'claim') await checkClaim(principal, route, params, deps)
  return principal
}

/** On a claim's route, turns an environment key that reaches sessions into the claim that is live there. */
async function standsFor(
  caller: Principal,
  { callers, claim: scope }: Route,
  params: Record<string, string>,
  { claimByKey }: CallerDeps,
): Promise<Principal> {
  if (caller.kind !== 'environment' || caller.reach !== 'sessions') return caller
  if (callers.includes('environment') || !callers.includes('claim') || !isKeyScope(scope))
    return caller
  return (await claimByKey(caller, scope, params)) ?? caller
}

/** The workspace that the request names, and the naming header. Throws when two headers name different ones. */
export function namedWorkspace(header: Header): { name: string; workspace: string } | undefined {
  const [official, other] = [header('anthropic-workspace-id'), header('x-active-tenant')]
  if (official && other && official !== other)
    throw forbidden('anthropic-workspace-id, x-active-tenant: these name two workspaces: send one')
  if (official) return { name: 'anthropic-workspace-id', workspace: official }
  return other ? { name: 'x-active-tenant', workspace: other } : undefined
}

/** Throws when the request names another workspace than the credential's. */
function checkWorkspace(header: Header, tenant: string): void {
  const named = namedWorkspace(header)
  if (named && named.workspace !== tenant)
    throw forbidden(`${named.name}: the credential is not one of workspace ${named.workspace}`)
}

const gone = {
  expired: 'the lease of this claim has run out: only its heartbeat and stop are open',
  stale: 'the claim has ended, or another has it now',
}

/** Throws unless the claim covers the path. After the end of its lease it covers only its own work item. */
async function checkClaim(
  claim: ClaimPrincipal,
  { claim: scope }: Route,
  params: Record<string, string>,
  { withinClaim }: CallerDeps,
): Promise<void> {
  if (claim.claimState !== 'current' && scope !== 'work') throw unauthorized(gone[claim.claimState])
  if (!scope || !(await withinClaim(claim, scope, params)))
    throw forbidden('the claim does not cover this')
}
