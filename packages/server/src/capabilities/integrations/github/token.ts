/** Tokens of the GitHub app itself, and of its installations. */
import type { KeyObject } from 'node:crypto'
import { sign } from 'node:crypto'
import { z } from 'zod'
import type { AppToken, ProviderContext } from '../installations/app.ts'
import { parsePayload } from '../deliveries/payload.ts'
import { githubHeaders } from './calls.ts'

export type GithubIdentity = { appId: string; key: KeyObject; apiUrl: string }

const minuteMs = 60_000
/** The time after which a new token is requested. A token lasts an hour. */
const tokenMs = 50 * minuteMs

const installationToken = z.object({ token: z.string().min(1) })

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token of the app itself, for less than ten minutes. This machine's clock may be ahead of GitHub's. */
export function appToken({ appId, key }: GithubIdentity, nowMs: number): string {
  const now = Math.floor(nowMs / 1000)
  const claims = { iat: now - 60, exp: now + 9 * 60, iss: appId }
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

export async function askGithub<T>(
  { send, signal }: ProviderContext,
  form: z.ZodType<T>,
  letter: { method: 'GET' | 'POST'; url: string; bearer?: string; body?: object },
): Promise<{ status: number; found?: T } | { error: string }> {
  const { method, url: to, bearer, body } = letter
  const credential: Record<string, string> =
    bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
  const answer = await send(
    {
      method,
      url: to,
      headers: { ...githubHeaders, ...credential },
      body: body ? JSON.stringify(body) : null,
    },
    signal,
  )
  if ('error' in answer) return answer
  const { data } = form.safeParse(parsePayload(Buffer.from(answer.body)))
  return { status: answer.status, ...(data !== undefined && { found: data }) }
}

const permitted = z.object({ permissions: z.record(z.string(), z.string()) })

type GithubPermissions = Readonly<Record<string, string>>

/**
 * What calls of agents may do. Attack: check runs hold the buttons by which people approve calls, and an agent could
 * show another text beside the buttons.
 */
export const forAgents = ({ checks: _, ...permissions }: GithubPermissions): GithubPermissions =>
  permissions

/** What git may do. A change of a workflow is pushed where the app itself may change workflows. */
export const forGit =
  (mayWrite: boolean) =>
  ({ contents, metadata, workflows }: GithubPermissions): GithubPermissions => ({
    ...(contents !== undefined && { contents: mayWrite ? contents : 'read' }),
    ...(metadata !== undefined && { metadata }),
    ...(workflows !== undefined && mayWrite && { workflows }),
  })

/**
 * A token with a part of the app's permissions. `repositories`: names without their owner. `permissionsFrom`: chooses
 * among the permissions that the installation has.
 */
export async function newNarrowToken(
  identity: GithubIdentity,
  id: string,
  provider: ProviderContext,
  {
    repositories,
    permissionsFrom,
  }: {
    repositories: readonly string[]
    permissionsFrom: (all: GithubPermissions) => GithubPermissions
  },
): Promise<AppToken> {
  const url = `${identity.apiUrl}/app/installations/${id}`
  const bearer = appToken(identity, provider.nowMs)
  const answer = await askGithub(provider, permitted, { method: 'GET', url, bearer })
  if ('error' in answer) return { kind: 'unreachable', reason: answer.error }
  if (!answer.found) return withoutToken(answer.status)
  const permissions = permissionsFrom(answer.found.permissions)
  // Attack: without permissions in the request, GitHub gives a token with all of them.
  if (Object.keys(permissions).length === 0) return { kind: 'refused' }
  return newInstallationToken(identity, id, provider, { repositories, permissions })
}

const withoutToken = (status: number): AppToken =>
  [401, 403, 404, 422].includes(status)
    ? { kind: 'refused' }
    : { kind: 'unreachable', reason: `status ${status}` }

/** Without `narrowing`, the token has all permissions of the app. */
export async function newInstallationToken(
  { appId, key, apiUrl }: GithubIdentity,
  id: string,
  provider: ProviderContext,
  narrowing?: {
    repositories: readonly string[]
    permissions: GithubPermissions
  },
): Promise<AppToken> {
  const { nowMs } = provider
  const to = `${apiUrl}/app/installations/${id}/access_tokens`
  const bearer = appToken({ appId, key, apiUrl }, nowMs)
  const body = narrowing
  const letter = { method: 'POST', url: to, bearer, ...(body && { body }) } as const
  const answer = await askGithub(provider, installationToken, letter)
  if ('error' in answer) return { kind: 'unreachable', reason: answer.error }
  const { status, found } = answer
  if (found) {
    const { token } = found
    const expiresMs = nowMs + tokenMs
    return { kind: 'token', token, expiresMs, tokens: { access: token, expiresMs } }
  }
  return withoutToken(status)
}
