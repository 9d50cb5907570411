/** Turns a session cookie into its principal, without the library of sign-in. [auth/cookie/checked-live] */
import { forbidden, invalid, unauthorized } from '../../ground/core/errors.ts'
import { recentLookups } from '../../ground/core/fairness/recent-lookups.ts'
import { hashToken } from '../../ground/core/security/token.ts'
import type { Notifying } from '../../ground/core/notice.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { Header } from '../../ground/http/caller.ts'
import { namedWorkspace } from '../../ground/http/caller.ts'
import type { Authenticate, CallerRules, Principal } from '../../ground/http/principal.ts'
import type { Role } from '../../ground/core/security/roles.ts'
import type { Ground } from '../../ground/ground.ts'
import type { SessionCookie } from './cookie.ts'
import type { OwnOrigin } from './origin.ts'
import { peopleStore } from './store.ts'

/** Topic of notifications after sign-ins ended or memberships changed. */
export const peopleTopic = 'people'

/** Notifies processes that sign-ins have ended or memberships have changed. */
export const notifyOfPeople = (tx: Notifying): void =>
  tx.afterCommit({ topic: peopleTopic, message: {} })

export type Membership = { id: string; name: string; role: Role; archived_at: string | null }

/** A sign-in with its person and the person's workspaces. */
export type SignIn = {
  id: string
  person: { id: string; email: string; name: string; operator: boolean }
  expiresAt: number
  /** The id of the workspace for requests that name none. */
  chosen: string | null
  /** The identity provider by which the person has signed in. */
  provider: string | null
  workspaces: Membership[]
}

export async function loadSignIn(databases: Databases, hash: string): Promise<SignIn | undefined> {
  const rows = await peopleStore(databases.control.read).signInRows(hash)
  const [first] = rows
  if (!first) return undefined
  return {
    id: first.id,
    person: {
      id: first.person_id,
      email: first.email,
      name: first.name,
      operator: first.operator === 1,
    },
    expiresAt: Date.parse(first.expires_at),
    chosen: first.chosen,
    provider: first.provider_id ?? null,
    workspaces: rows.flatMap(({ workspace_id: id, workspace_name: name, role, archived_at }) =>
      id === null || name === null || role === null ? [] : [{ id, name, role, archived_at }],
    ),
  }
}

export type FindSignIn = (header: Header) => Promise<SignIn | undefined>

/** Finds the valid sign-in of the request's cookie. `isByProvidersAlone`: a sign-in by other ways has ended. */
export function findSignIn({
  databases,
  clock,
  bus,
  cookie,
  isByProvidersAlone,
}: Ground & { cookie: SessionCookie; isByProvidersAlone: boolean }): FindSignIn {
  const isAlone = databases.control.dialect === 'sqlite'
  const known = recentLookups((hash) => loadSignIn(databases, hash), { clock, isAlone })
  bus.subscribe(peopleTopic, () => known.forgetAll())
  return async (header) => {
    const token = cookie.read(header('cookie'))
    if (token === undefined) return undefined
    const found = await known.find(hashToken(token))
    if (!found || found.expiresAt <= clock.now()) return undefined
    return isByProvidersAlone && found.provider === null ? undefined : found
  }
}

/** A key comes before the cookie: a program that sends both means its key. */
export function withCookies(
  keys: Authenticate,
  { find, cookie, origin }: { find: FindSignIn; cookie: SessionCookie; origin: OwnOrigin },
): Authenticate {
  return async (header, authentication) => {
    const hasKey = header('authorization') || header('x-api-key')
    if (hasKey || cookie.read(header('cookie')) === undefined) return keys(header, authentication)
    origin.check(header, { isChange: authentication.method !== 'get' })
    const signIn = await find(header)
    if (!signIn) throw unauthorized('the sign-in has ended: sign in again')
    return principalOf(signIn, header, authentication)
  }
}

function principalOf(signIn: SignIn, header: Header, { callers, answer }: CallerRules): Principal {
  // Attack: a browser would show the answer of an upstream as a page of this service.
  if (answer === 'any') throw forbidden('a session cookie does not reach this: send an API key')
  const { id: userId, name, email } = signIn.person
  const base = { kind: 'user', userId, signInId: signIn.id, name: `${name} <${email}>` } as const
  const isOptional = callers.includes('user')
  const workspace = selectWorkspace(signIn, header)
  if (workspace === undefined && !isOptional) throw unnamedWorkspace(signIn)
  if (workspace?.archived_at && !isOptional && !callers.includes('owner'))
    throw forbidden(`the workspace ${workspace.name} is archived`, 'workspace_archived')
  return workspace
    ? { ...base, tenant: workspace.id, role: workspace.role }
    : { ...base, tenant: '', role: null }
}

/** The workspace that the request names, the chosen one, or the only one. Throws where the person is no member. */
export function selectWorkspace(
  { workspaces, chosen }: Pick<SignIn, 'chosen'> & { workspaces: readonly Membership[] },
  header: Header,
): Membership | undefined {
  const named = namedWorkspace(header)
  if (named) {
    const found = workspaces.find(({ id }) => id === named.workspace)
    if (found) return found
    throw forbidden(`${named.name}: you are not a member of this workspace`, 'not_a_member')
  }
  const open = workspaces.filter(({ archived_at }) => archived_at === null)
  return open.find(({ id }) => id === chosen) ?? (open.length === 1 ? open[0] : undefined)
}

const unnamedWorkspace = ({ workspaces }: SignIn) =>
  workspaces.length === 0
    ? forbidden(
        'you are not a member of any workspace: ask an owner for an invitation',
        'not_a_member',
      )
    : invalid(
        'anthropic-workspace-id: you are a member of several workspaces, so name one by this header, or choose one at /signin',
      )
