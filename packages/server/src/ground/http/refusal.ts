/** The error for a caller that may not call a route. It names the credential that the route needs. */
import type { PlatformError } from '../core/errors.ts'
import { forbidden, unauthorized } from '../core/errors.ts'
import type { Principal } from './principal.ts'
import type { Role } from '../core/security/roles.ts'
import { roles } from '../core/security/roles.ts'
import type { CallerKind } from './permissions.ts'
import { permissions } from './permissions.ts'
import { isKeyScope } from './principal.ts'
import type { Route } from './route.ts'

export function callerRefusal(route: Route, principal: Principal): PlatformError {
  if (principal.kind === 'environment') return unauthorized(refusalOfKey(route, principal.reach))
  if (principal.kind === 'mcp') return unauthorized('this token reaches one MCP server, not this')
  if (principal.kind === 'claim')
    return forbidden(
      `the token of a claim does not reach this: it needs ${acceptedCredentials(route)}`,
    )
  if (principal.kind === 'user' || principal.kind === 'login')
    return refusalOfPerson(route, principal.role)
  return principal.kind === 'subject'
    ? refusalOfToken(route, principal.role)
    : refusalOfWorkspaceKey(route, principal)
}

function refusalOfWorkspaceKey(
  { callers, method, answer }: Route,
  { readOnly }: Extract<Principal, { kind: 'workspace' }>,
): PlatformError {
  if (callers.includes('owner'))
    return forbidden('this needs an owner of the workspace who has signed in')
  if (readOnly && answer === 'any')
    return forbidden('this key is read-only: it does not reach what others answer', 'read_only')
  if (readOnly && method !== 'get')
    return forbidden('this key is read-only: it changes nothing', 'read_only')
  return callers.includes('admin')
    ? forbidden('this needs a workspace-admin key')
    : forbidden('a workspace key does not reach this')
}

function refusalOfPerson(route: Route, role: Role | null): PlatformError {
  const needed = leastRole(route)
  return needed === undefined
    ? forbidden('people and clients that act for them do not reach this')
    : forbidden(`this needs the role ${needed} in the workspace, and yours is ${role}`)
}

function refusalOfToken(route: Route, role: Role): PlatformError {
  const needed = leastRole(route)
  return needed === undefined
    ? forbidden('a token of an identity provider does not reach this')
    : forbidden(`this needs the role ${needed} in the workspace, and the token gives ${role}`)
}

function leastRole({ callers, operation }: Route): Role | undefined {
  if (operation !== undefined)
    return roles.find((role) => permissions[role].operations.includes(operation))
  if (callers.includes('workspace')) return 'member'
  if (callers.includes('admin')) return 'admin'
  return callers.includes('owner') ? 'owner' : undefined
}

const workAlone = 'an environment key reaches only the work of its environment'
const token = 'the sessions_token in the secret of the work item'

function refusalOfKey({ callers, claim: scope }: Route, reach: 'work' | 'sessions'): string {
  if (!callers.includes('claim')) return workAlone
  if (!isKeyScope(scope)) return `${workAlone}: memory stores are open to ${token}`
  return reach === 'work'
    ? `${workAlone}: for its session send ${token}, or a key that was created with "reach": "sessions"`
    : 'this key reaches sessions whose work item of its environment is claimed at this moment, and this is none of them'
}

const credentials: Record<CallerKind, string> = {
  anyone: 'no credential',
  workspace: 'a workspace key',
  admin: 'a workspace-admin key',
  owner: 'the session cookie of an owner',
  user: 'a session cookie',
  environment: "the environment's key",
  claim: "the token of a claim, from a work item's secret",
  mcp: "an MCP server's token",
}

export const acceptedCredentials = ({ callers }: Route): string =>
  callers.map((caller) => credentials[caller]).join(' or ')
