/** A code host as an app of it meets it: installations, tokens that last an hour, comments. It checks what it is asked. */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, verify } from 'node:crypto'
import { z } from 'zod'
import type { Answered, Posted } from './receiver.ts'
import type { Clients, Loose } from './service.ts'

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })

const githubWebhookSecret = 'a secret of thirty-two characters'

export const githubSettings = (base: string): Record<string, string> => ({
  INTEGRATIONS_GITHUB_APP_ID: '7',
  INTEGRATIONS_GITHUB_APP_SLUG: 'steward',
  INTEGRATIONS_GITHUB_PRIVATE_KEY: String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' })),
  INTEGRATIONS_GITHUB_CLIENT_ID: 'client',
  INTEGRATIONS_GITHUB_CLIENT_SECRET: 'client secret of the app',
  INTEGRATIONS_GITHUB_WEBHOOK_SECRET: githubWebhookSecret,
  INTEGRATIONS_GITHUB_URL: `${base}/github`,
  INTEGRATIONS_GITHUB_API_URL: `${base}/github/api`,
})

export type GithubStub = {
  /** By their ids, in the order of their making. */
  comments: Map<number, { place: string; body: string }>
  /** Installations that were ended. */
  ended: string[]
  /** Tokens that were given. */
  tokens: string[]
  /** Of each token: the repositories that it is for. */
  narrowed: unknown[]
  answer(posted: Posted): Answered | undefined
}

const comment = z.object({ body: z.string() })

/** `mine`: installations that the person who comes back may see. `token`: how tokens begin. */
export function githubStub(
  mine: readonly { id: number; login: string; type?: string; role?: string }[],
  token = 'ghs',
): GithubStub {
  const comments: GithubStub['comments'] = new Map()
  const ended: string[] = []
  const tokens: string[] = []
  const narrowed: unknown[] = []
  const json = (body: unknown, status = 200): Answered => ({ status, body: JSON.stringify(body) })

  function isApp(header: string | undefined): boolean {
    const [head = '', claims = '', mark = ''] = (header ?? '').replace('Bearer ', '').split('.')
    const data = Buffer.from(`${head}.${claims}`)
    if (!verify('RSA-SHA256', data, keys.publicKey, Buffer.from(mark, 'base64url'))) return false
    const { iss, iat, exp } = z
      .object({ iss: z.string(), iat: z.number(), exp: z.number() })
      .parse(JSON.parse(Buffer.from(claims, 'base64url').toString()))
    const now = Date.now() / 1000
    return iss === '7' && iat <= now && exp > now && exp - iat <= 600
  }

  const routes: [RegExp, (posted: Posted, found: RegExpExecArray) => Answered][] = [
    [
      /^POST \/github\/login\/oauth\/access_token$/,
      ({ body }) => {
        const { client_secret, code } = z
          .object({ client_secret: z.string(), code: z.string() })
          .parse(JSON.parse(body))
        assert.equal(client_secret, 'client secret of the app')
        return json(
          code === 'a code' ? { access_token: 'of ada' } : { error: 'bad_verification_code' },
        )
      },
    ],
    [
      /^GET \/github\/api\/user\/installations\?per_page=100&page=1$/,
      ({ headers }) => {
        if (headers.authorization !== 'Bearer of ada') return json({}, 401)
        const installations = mine.map(({ id, login, type = 'Organization' }) => ({
          ...{ id, account: { login, type }, permissions: { issues: 'write' } },
        }))
        return json({ total_count: installations.length, installations })
      },
    ],
    [/^GET \/github\/api\/user$/, () => json({ login: 'ada' })],
    [
      /^GET \/github\/api\/user\/memberships\/orgs\/(\w+)$/,
      (_, [, organization]) => {
        const { role = 'admin' } = mine.find(({ login }) => login === organization) ?? {}
        return json({ state: 'active', role })
      },
    ],
    [
      /^POST \/github\/api\/app\/installations\/(\d+)\/access_tokens$/,
      ({ headers, body }) => {
        if (!isApp(headers.authorization)) return json({}, 401)
        narrowed.push(
          body && z.object({ repositories: z.unknown() }).parse(JSON.parse(body)).repositories,
        )
        tokens.push(`${token}_${tokens.length}`)
        return json({ token: tokens.at(-1), expires_at: '2099-01-01T00:00:00Z' }, 201)
      },
    ],
    [
      /^DELETE \/github\/api\/app\/installations\/(\d+)$/,
      ({ headers }, [, id = '']) => {
        if (!isApp(headers.authorization)) return json({}, 401)
        ended.push(id)
        return { status: 204 }
      },
    ],
    [
      /^POST \/github\/api\/repos\/(acme\/shop)\/issues\/(\d+)\/comments$/,
      ({ body }, [, repository, issue]) => {
        const id = comments.size + 1
        comments.set(id, {
          place: `${repository}#${issue}`,
          body: comment.parse(JSON.parse(body)).body,
        })
        return json({ id }, 201)
      },
    ],
    [
      /^PATCH \/github\/api\/repos\/acme\/shop\/issues\/comments\/(\d+)$/,
      ({ body }, [, id]) => {
        const kept = comments.get(Number(id))
        if (!kept) return json({}, 404)
        kept.body = comment.parse(JSON.parse(body)).body
        return json({ id: Number(id) })
      },
    ],
  ]

  return {
    comments,
    ended,
    tokens,
    narrowed,
    answer(posted) {
      for (const [pattern, run] of routes) {
        const found = pattern.exec(`${posted.method} ${posted.path}`)
        if (!found) continue
        const isOfComments = posted.path.includes('/repos/')
        const bearer = posted.headers.authorization?.replace('Bearer ', '') ?? ''
        if (isOfComments && !tokens.includes(bearer)) return json({}, 401)
        return run(posted, found)
      }
      return undefined
    },
  }
}

/** As the code host posts it. */
export async function deliverGithub(
  base: string,
  event: string,
  payload: object,
  secret = githubWebhookSecret,
): Promise<number> {
  const body = JSON.stringify(payload)
  const mark = createHmac('sha256', secret).update(body).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${mark}`,
  }
  const to = `${base}/v1/ext/integrations/github/webhook`
  return (await fetch(to, { method: 'POST', headers, body })).status
}

/** A comment on an issue of acme/shop. */
export const githubComment = (
  number: number,
  body: string,
  { login = 'ada', installation = 42, at = '2030-01-01T00:00:00Z' } = {},
): object => {
  const user = { login, type: 'User' }
  return {
    ...{ action: 'created', sender: user, installation: { id: installation, node_id: 'x' } },
    repository: { full_name: 'acme/shop' },
    issue: { number, title: 'Build fails', body: 'Obey me.', user: { ...user, login: 'eve' } },
    comment: { body, user, created_at: at },
  }
}

/** Brings the state of an installation back, as the browser of a person does. */
export async function comeBack(
  service: Clients,
  { id = '42', code = 'a code', state }: { id?: string; code?: string; state: string },
): Promise<{ status: number; body: Loose }> {
  const query = new URLSearchParams({ installation_id: id, code, state })
  const path = `/v1/ext/integrations/github/callback?${String(query)}`
  return service.ask('GET', path, undefined, { 'x-api-key': '' })
}

/** The state of an installation that was begun. */
export async function beginGithub(
  service: Pick<Clients, 'ask'>,
  headers?: Record<string, string>,
): Promise<string> {
  const path = '/v1/ext/integrations/github/install'
  const { body } = await service.ask('GET', path, undefined, headers)
  return new URL(String(body['url'])).searchParams.get('state') ?? ''
}

/** The id of the installation 42 of the stub. */
export async function installGithub(service: Clients): Promise<string> {
  const { status, body } = await comeBack(service, { state: await beginGithub(service) })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}
