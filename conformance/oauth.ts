/** The login of the official command line, step by step as it does it, and a browser that allows it. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { systemClock } from '@steward/base/time.ts'
import type { PersonClient } from './people.ts'
import { accept } from './people.ts'
import type { LooseBody, TestService, databases } from './service.ts'
import { boot } from './service.ts'

/** The client id of the official command line. */
export const officialClientId = '41077d10-94b8-4194-be48-d251e9eb21b4'

export type LoginTokens = {
  access_token: string
  refresh_token: string
  expires_in: number
  token_type: string
  scope?: string
  account?: { uuid: string; email_address: string }
  workspace: { id: string; name: string }
}

export type LoginRequest = {
  client_id: string
  redirect_uri: string
  response_type: string
  scope: string
  state: string
  code_challenge: string
  code_challenge_method: string
  workspace_id?: string
}

const random = (bytes: number): string => randomBytes(bytes).toString('base64url')

export function newLoginRequest(change: Partial<LoginRequest> = {}) {
  const verifier = random(64)
  const request: LoginRequest = {
    client_id: officialClientId,
    redirect_uri: 'http://localhost:61234/callback',
    response_type: 'code',
    scope: 'user:profile user:inference user:developer',
    state: random(32),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...change,
  }
  return { verifier, request, search: new URLSearchParams(request).toString() }
}

type Page = { status: number; text: string; location: string | null; headers: Headers }

/** A browser of a person who has signed in. It follows no redirect. */
export function browserOf(base: string, { cookie }: PersonClient, ownOrigin = base) {
  let cookies = cookie
  async function go(path: string, init: RequestInit = {}): Promise<Page> {
    const headers = { ...(init.headers as Record<string, string>), cookie: cookies }
    const answer = await fetch(base + path, { ...init, headers, redirect: 'manual' })
    for (const set of answer.headers.getSetCookie()) cookies += `; ${set.split(';')[0] ?? ''}`
    const { status, headers: told } = answer
    return { status, text: await answer.text(), location: told.get('location'), headers: told }
  }
  return {
    go,
    post(
      page: Page,
      path: string,
      fields: Record<string, string>,
      origin = ownOrigin,
    ): Promise<Page> {
      const token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
      const body = new URLSearchParams({ form_token: token, ...fields })
      return go(path, { method: 'POST', body, headers: { origin } })
    },
  }
}

export type OAuthBrowser = ReturnType<typeof browserOf>

/** Opens the page of consent and posts its form. Returns where the browser is sent. */
export async function decide(
  browser: OAuthBrowser,
  search: string,
  fields: Record<string, string>,
): Promise<URL> {
  const path = `/oauth/authorize?${search}`
  const page = await browser.go(path)
  assert.equal(page.status, 200, page.text)
  const { location, text } = await browser.post(page, path, fields)
  assert.ok(location, text)
  return new URL(location)
}

export async function tokenRequest(
  base: string,
  parameters: Record<string, string>,
  as: 'form' | 'json' = 'form',
) {
  const answer = await fetch(`${base}/v1/oauth/token`, {
    method: 'POST',
    ...(as === 'form'
      ? { body: new URLSearchParams(parameters) }
      : { body: JSON.stringify(parameters), headers: { 'content-type': 'application/json' } }),
  })
  const body = (await answer.json()) as LoginTokens & { error?: string; error_description?: string }
  return { status: answer.status, body, headers: answer.headers }
}

export const refreshed = (base: string, refresh_token: string, client_id = officialClientId) =>
  tokenRequest(base, { grant_type: 'refresh_token', refresh_token, client_id }, 'json')

/** A whole login, with the code that it used up. */
export async function logIn(
  base: string,
  person: PersonClient,
  workspace: string,
  /** That of `PUBLIC_URL`. */
  origin = base,
): Promise<LoginTokens & { code: string }> {
  const { verifier, request, search } = newLoginRequest()
  const at = await decide(browserOf(base, person, origin), search, { workspace_id: workspace })
  const code = at.searchParams.get('code') ?? ''
  const { status, body } = await tokenRequest(base, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id: request.client_id,
    redirect_uri: request.redirect_uri,
    state: request.state,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return { ...body, code }
}

/** A client of the setting. */
export const tool = { id: 'a-tool', redirect: 'https://tool.example/callback?from=here' }

export type LoginScene = {
  service: TestService
  workspace: string
  owner: PersonClient
  member: PersonClient
  /** Lets time pass for the service. */
  pass: (ms: number) => void
  bearer: (token: string) => Record<string, string>
  statusWith: (token: string, path?: string, headers?: Record<string, string>) => Promise<number>
  logins: () => Promise<(LooseBody & { kind: string; name: string })[]>
  /** Each test ends with none. */
  endAll: () => Promise<void>
}

export async function bootForLogins(
  database: (typeof databases)[number],
  given: Record<string, string> = {},
): Promise<LoginScene> {
  let offsetMs = 0
  const clock = { ...systemClock, now: () => Date.now() + offsetMs }
  const clients = { [tool.id]: { name: 'A tool', redirect_uris: [tool.redirect] } }
  const env = { OAUTH_CLIENTS: JSON.stringify(clients), ...given }
  const service = await boot(database, { env, overrides: { clock } })
  const workspace = (await service.ask('GET', '/v1/organizations/me')).body.id
  const join = async (role: 'owner' | 'member', name: string) =>
    accept(service, await service.invite(workspace, role), { email: `${role}@example.com`, name })
  const bearer = (token: string) => ({ 'x-api-key': '', authorization: `Bearer ${token}` })
  const logins: LoginScene['logins'] = async () => {
    const keys = await service.ask<{ data: Awaited<ReturnType<LoginScene['logins']>> }>(
      'GET',
      '/v1/ext/api_keys?limit=100',
    )
    return keys.body.data.filter(({ kind }) => kind === 'oauth')
  }
  return {
    service,
    workspace,
    owner: await join('owner', 'Olga'),
    member: await join('member', 'Mia'),
    pass: (ms) => void (offsetMs += ms),
    bearer,
    statusWith: async (token, path = '/v1/agents', headers = {}) =>
      (await service.ask('GET', path, undefined, { ...bearer(token), ...headers })).status,
    logins,
    async endAll() {
      for (const { id } of await logins()) await service.ask('DELETE', `/v1/ext/api_keys/${id}`)
    },
  }
}
