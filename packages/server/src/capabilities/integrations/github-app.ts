/** The GitHub app of this service: installations, and tokens for each that last an hour. */
import type { KeyObject } from 'node:crypto'
import { createPrivateKey, sign } from 'node:crypto'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { z } from 'zod'
import type { App, AppToken, InstalledApp, Outside } from './app.ts'
import { github } from './github.ts'
import { payloadOf } from './payload.ts'

export type GithubSettings = {
  appId: string
  slug: string
  /** SECRET: never logged. */
  privateKey: string
  clientId: string
  /** SECRET: never logged. */
  clientSecret: string
  /** SECRET: never logged. */
  webhookSecret: string
  url: string
  apiUrl: string
}

const minuteMs = 60_000
/** A token lasts an hour, and another is asked for before that. */
const tokenMs = 50 * minuteMs

const headers = {
  accept: 'application/vnd.github+json',
  'content-type': 'application/json',
  'x-github-api-version': '2022-11-28',
}

const userToken = z.object({ access_token: z.string().min(1) })
const installed = z.object({
  installations: z.array(
    z.object({
      id: z.number(),
      account: z.object({ login: z.string() }),
      permissions: z.record(z.string(), z.string()).default({}),
    }),
  ),
})
const installationToken = z.object({ token: z.string().min(1) })

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The app itself, for ten minutes at most. Its clock may be ahead of GitHub's. */
function appToken(appId: string, key: KeyObject, nowMs: number): string {
  const now = Math.floor(nowMs / 1000)
  const claims = { iat: now - 60, exp: now + 9 * 60, iss: appId }
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

async function ask<T>(
  { send, signal }: Outside,
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
      headers: { ...headers, ...credential },
      body: body ? JSON.stringify(body) : null,
    },
    signal,
  )
  if ('error' in answer) return answer
  const { data } = form.safeParse(payloadOf(Buffer.from(answer.body)))
  return { status: answer.status, ...(data !== undefined && { found: data }) }
}

export function githubApp(settings: GithubSettings): App {
  const { appId, slug, clientId, clientSecret, url, apiUrl } = settings
  const key = createPrivateKey(settings.privateKey.replaceAll('\\n', '\n'))
  const bot = `${slug}[bot]`
  /** The installation, if the person who came back with the code may see it: its id alone proves nothing. */
  async function seenBy(
    bearer: string,
    id: string,
    outside: Outside,
  ): Promise<InstalledApp | undefined> {
    for (let page = 1; page <= 10; page++) {
      const to = `${apiUrl}/user/installations?per_page=100&page=${page}`
      const answer = await ask(outside, installed, { method: 'GET', url: to, bearer })
      const all = 'found' in answer ? (answer.found?.installations ?? []) : []
      const found = all.find((each) => String(each.id) === id)
      if (found)
        return {
          externalId: id,
          externalName: found.account.login,
          botUserId: bot,
          scopes: Object.entries(found.permissions).map(([name, access]) => `${name}:${access}`),
          tokens: null,
        }
      if (all.length < 100) return undefined
    }
    return undefined
  }

  async function newToken(id: string, outside: Outside): Promise<AppToken> {
    const { nowMs } = outside
    const to = `${apiUrl}/app/installations/${id}/access_tokens`
    const bearer = appToken(appId, key, nowMs)
    const answer = await ask(outside, installationToken, { method: 'POST', url: to, bearer })
    if ('error' in answer) return { kind: 'unreachable', reason: answer.error }
    const { status, found } = answer
    if (found) {
      const { token } = found
      return { kind: 'token', token, tokens: { access: token, expiresMs: nowMs + tokenMs } }
    }
    const isRefused = [401, 403, 404].includes(status)
    return isRefused ? { kind: 'refused' } : { kind: 'unreachable', reason: `status ${status}` }
  }

  const configOf = ({ github: config }: PublicationSpec) => ({
    repositories: config?.repositories ?? [],
    authors: config?.authors ?? [],
    mention: slug,
    assignee: bot,
    labels: config?.labels ?? [],
  })

  return {
    id: 'github',
    adapter: { ...github, read: (body, spec) => github.read(body, configOf(spec)) },
    secrets: [settings.webhookSecret],
    apiUrl,
    faultOf: (spec) => (spec.github ? undefined : 'github: is required for the integration github'),
    installUrl: (state) =>
      `${url}/apps/${slug}/installations/new?state=${encodeURIComponent(state)}`,

    async finish(query, redirect, outside) {
      const id = query.get('installation_id') ?? ''
      const code = query.get('code') ?? ''
      if (!/^\d{1,20}$/.test(id) || code === '')
        return {
          refused:
            'GitHub brought no installation_id and code back: the app must request user authorization during installation',
        }
      const body = {
        client_id: clientId,
        client_secret: clientSecret,
        code,
        redirect_uri: redirect,
      }
      const to = `${url}/login/oauth/access_token`
      const answer = await ask(outside, userToken, { method: 'POST', url: to, body })
      const bearer = 'found' in answer ? answer.found?.access_token : undefined
      if (bearer === undefined) return { refused: 'GitHub did not take the code' }
      const found = await seenBy(bearer, id, outside)
      if (!found) return { refused: 'the person who came back may not see this installation' }
      const first = await newToken(id, outside)
      return first.kind === 'token'
        ? { ...found, tokens: first.tokens ?? null }
        : { refused: 'GitHub gives no token: look at the id and the private key of the app' }
    },

    newToken: (id, _tokens, outside) => newToken(id, outside),

    async revoke(id, _tokens, outside) {
      const { send, signal, nowMs } = outside
      const authorization = `Bearer ${appToken(appId, key, nowMs)}`
      const to = `${apiUrl}/app/installations/${id}`
      const letter = { method: 'DELETE', url: to, headers: { ...headers, authorization } } as const
      const answer = await send({ ...letter, body: null }, signal)
      return 'status' in answer && (answer.status === 204 || answer.status === 404)
    },
  }
}
