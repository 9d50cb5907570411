/** The login of the official command line, step by step as it does it, and a browser that allows it. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { PersonClient } from './people.ts'

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
export function browserOf(base: string, { cookie }: PersonClient) {
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
    post(page: Page, path: string, fields: Record<string, string>, origin = base): Promise<Page> {
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

/** A whole login. */
export async function logIn(
  base: string,
  person: PersonClient,
  workspace: string,
): Promise<LoginTokens> {
  const { verifier, request, search } = newLoginRequest()
  const at = await decide(browserOf(base, person), search, { workspace_id: workspace })
  const { status, body } = await tokenRequest(base, {
    grant_type: 'authorization_code',
    code: at.searchParams.get('code') ?? '',
    code_verifier: verifier,
    client_id: request.client_id,
    redirect_uri: request.redirect_uri,
    state: request.state,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
