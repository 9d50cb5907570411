/** Decides by routes which calls have audit lines, and what a line says about the caller. */
import type { AuditActor, AuditCredential, AuditedCall } from '../core/security/audited-call.ts'
import { runAudited } from '../core/security/audited-call.ts'
import type { Database } from '../database/database.ts'
import type { Principal } from './principal.ts'
import type { Route, RouteCall } from './route.ts'

/** The differences of a route's audit from the audit that its path implies. */
export type AuditException = {
  /** The reason why calls of `callers` (default: of all) have no line. */
  reason?: string
  callers?: readonly Principal['kind'][]
  /** The action under which calls are counted, without a line each. Calls of workers are not counted. */
  counted?: string
  /** The reason why the call has only the lines that stores report, and none of its own. */
  told?: string
  action?: string
  type?: string
  /** The parameter that names the workspace of the chain; `deployment`: the chain of the deployment. */
  chain?: 'id' | 'deployment'
}

/** Exceptions by method and path. A path that ends with `*` is a prefix. */
export type AuditExceptions = Readonly<Record<string, AuditException>>

export type RouteAudit = {
  action: string
  type: string
  /** The parameters that name the resource and the one that holds it. */
  idParam: string | undefined
  parentParam: string | undefined
  chain: 'id' | 'deployment' | undefined
  isAutomatic: boolean
  /** Kinds of callers whose calls have no line. */
  without: readonly Principal['kind'][]
}

type RouteKey = Pick<Route, 'method' | 'path'>

const keyOf = ({ method, path }: RouteKey): string => `${method} ${path}`

export function findAuditException(
  { method, path }: RouteKey,
  exceptions: AuditExceptions,
): AuditException | undefined {
  const exact = exceptions[keyOf({ method, path })]
  if (exact) return exact
  const found = Object.entries(exceptions).find(
    ([key]) => key.endsWith('*') && path.startsWith(key.slice(0, -1)),
  )
  return found?.[1]
}

/** The audit of counted calls. Their resource is the parent of the posted object. */
function countedBy(route: RouteKey, action: string): RouteAudit {
  const { parentParam: idParam } = namedBy(route)
  const [type = ''] = action.split('.')
  const none = { parentParam: undefined, chain: undefined, without: [] }
  return { ...none, action, type, idParam, isAutomatic: false }
}

/** The audit that path and exceptions imply. Undefined for a route without lines. */
export function deriveRouteAudit(
  route: RouteKey,
  exceptions: AuditExceptions,
): RouteAudit | undefined {
  const { reason, callers, told, ...own } = findAuditException(route, exceptions) ?? {}
  if (route.method === 'get' && told === undefined) return undefined
  if (reason !== undefined && callers === undefined) return undefined
  const named = namedBy(route)
  const type = own.type ?? named.type
  return {
    ...named,
    type,
    action: own.action ?? `${type}.${named.verb}`,
    chain: own.chain,
    isAutomatic: told === undefined,
    without: callers ?? [],
  }
}

const verbs = { get: 'read', post: 'update', put: 'update', patch: 'update', delete: 'delete' }

/** `/v1/vaults/:id/credentials/:credential_id/archive` is `credential.archive`. */
function namedBy({ method, path }: RouteKey) {
  const segments = path.replace(/^\/v1(\/ext|\/organizations)?\//, '').split('/')
  const params = segments.flatMap((each) => (each.startsWith(':') ? each.slice(1) : []))
  const nouns = segments.filter((each) => !each.startsWith(':'))
  const last = segments.at(-1) ?? ''
  const [id, parent] = [params.at(-1), params.at(-2)]
  if (last.startsWith(':'))
    return { type: singular(nouns.at(-1)), verb: verbs[method], idParam: id, parentParam: parent }
  // A list ends with an s, and a verb does not.
  if (last.endsWith('s'))
    return { type: singular(last), verb: 'create', idParam: undefined, parentParam: id }
  const isOfOne = segments.at(-2)?.startsWith(':') ?? false
  return {
    type: singular(nouns.at(-2)),
    verb: last,
    idParam: isOfOne ? id : undefined,
    parentParam: isOfOne ? parent : id,
  }
}

const singular = (noun = '') => noun.replace(/ies$/, 'y').replace(/s$/, '')

/** `run`: the handler of the route. */
export type AuditAround = <T>(
  route: RouteKey,
  call: CallFacts,
  requestId: string,
  run: () => Promise<T>,
) => Promise<T>

type CallFacts = Pick<
  RouteCall<string, unknown, unknown>,
  'tenant' | 'db' | 'principal' | 'address' | 'header'
> & { params: Readonly<Record<string, string>> }

/** Runs the handler of a route. When it writes nothing, its line is written before the answer is sent. */
export function auditCalls(
  exceptions: AuditExceptions,
  note: (call: AuditedCall) => void,
): AuditAround {
  const known = new Map<RouteKey, { audit?: RouteAudit; counted?: RouteAudit }>()

  function rulesOf(route: RouteKey) {
    const rules = known.get(route)
    if (rules) return rules
    const action = findAuditException(route, exceptions)?.counted
    const audit = deriveRouteAudit(route, exceptions)
    const counted = action === undefined ? undefined : countedBy(route, action)
    const made = { ...(audit && { audit }), ...(counted && { counted }) }
    known.set(route, made)
    return made
  }

  return async (route, call, requestId, run) => {
    const { audit, counted } = rulesOf(route)
    if (counted) {
      const answer = await run()
      if (!isWorker(call.principal)) note(auditedCallOf(route, counted, call, requestId))
      return answer
    }
    if (!audit || audit.without.includes(call.principal.kind)) return run()
    return runAudited(auditedCallOf(route, audit, call, requestId), async (context) => {
      const answer = await run()
      if (audit.isAutomatic && !context.isWritten) await writeAlone(call.db)
      return answer
    })
  }
}

const isWorker = ({ kind }: Principal): boolean =>
  !['workspace', 'user', 'login', 'subject'].includes(kind)

/** An empty unit, which writes the line of a call without units. */
const writeAlone = (database: Database) => database.write(async () => {})

function auditedCallOf(
  route: RouteKey,
  audit: RouteAudit,
  call: CallFacts,
  requestId: string,
): AuditedCall {
  const { tenant, principal, params, header } = call
  const param = (name: string | undefined) => (name === undefined ? null : (params[name] ?? null))
  const workspaces = { id: params['id'] ?? '', deployment: '' }
  return {
    workspace: audit.chain ? workspaces[audit.chain] : tenant,
    action: audit.action,
    resource: { type: audit.type, id: param(audit.idParam), parent: param(audit.parentParam) },
    ...actorAndCredential(principal),
    address: call.address || null,
    userAgent: clippedAgent(header('user-agent')),
    request: { id: requestId, method: route.method.toUpperCase(), route: route.path },
    isAutomatic: audit.isAutomatic,
  }
}

const longestAgent = 200

/** The first 200 characters, which identify browsers and programs. Replaces characters other than printable ASCII. */
export const clippedAgent = (agent: string | undefined): string | null =>
  agent?.slice(0, longestAgent).replaceAll(/[^\x20-\x7e]/g, '?') || null

function actorAndCredential(principal: Principal): {
  actor: AuditActor
  credential: AuditCredential
} {
  const name = ('name' in principal ? principal.name : undefined) ?? null
  switch (principal.kind) {
    case 'workspace': {
      if (principal.keyId === '') return nobody
      const key = { type: 'api_key', id: principal.keyId } as const
      return { actor: { ...key, name }, credential: key }
    }
    case 'user':
      return {
        actor: { type: 'user', id: principal.userId, name },
        credential: { type: 'sign_in', id: principal.signInId },
      }
    case 'login':
      return {
        actor: { type: principal.isSubject ? 'subject' : 'user', id: principal.userId, name },
        credential: { type: 'login', id: principal.keyId },
      }
    case 'subject':
      return {
        actor: { type: 'subject', id: principal.subjectId, name },
        credential: { type: 'identity_token', id: principal.subjectId },
      }
    case 'environment': {
      const key = { type: 'environment_key', id: principal.keyId } as const
      return { actor: { ...key, name }, credential: key }
    }
    case 'claim': {
      const { keyId, workId } = principal
      const claim = { type: 'claim', id: workId } as const
      return {
        actor: { type: 'worker', id: workId, name },
        credential: keyId === undefined ? claim : { type: 'environment_key', id: keyId },
      }
    }
    case 'mcp':
      return {
        actor: { type: 'worker', id: principal.sessionId, name },
        credential: { type: 'mcp_token', id: principal.sessionId },
      }
  }
}

const nobody = {
  actor: { type: 'anonymous', id: null, name: null },
  credential: { type: 'none', id: null },
} as const
