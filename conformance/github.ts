/**
 * A stub of GitHub for its apps: installations, tokens of one hour, comments, check runs. It refuses invalid requests.
 */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { z } from 'zod'
import type { ReceiverAnswer, ReceivedPost } from './receiver.ts'
import type { GithubRoute, GithubThreads } from './github-threads.ts'
import { faultsOfGithubCall } from './github-schema.ts'
import { githubThreads } from './github-threads.ts'
import type { GithubPulls } from './github-pulls.ts'
import { githubPulls } from './github-pulls.ts'
import { cookieOf } from './people.ts'
import type { ServiceClients, LooseBody } from './service.ts'

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
  /** Comments by id, in the order of creation. */
  comments: Map<number, { path: string; body: string }>
  checks: Map<number, GithubCheck>
  reviews: (z.infer<typeof review> & { number: number })[]
  /** What stands around the requests of people. */
  around: GithubThreads
  /** Pull requests, and what each token may do. */
  code: GithubPulls
  /** Tokens that it does not take any more. */
  refused: Set<string>
  /** Ids of removed installations. */
  ended: string[]
  /** All tokens that the stub issued. */
  tokens: string[]
  /** For each token: the repositories that it is limited to. */
  narrowed: unknown[]
  answer(posted: ReceivedPost): ReceiverAnswer | undefined
}

const urlOf = (issue: number, comment: number): string =>
  `https://github.com/acme/shop/issues/${issue}#issuecomment-${comment}`

const comment = z.object({ body: z.string().max(65_536) })
const side = z.enum(['LEFT', 'RIGHT'])
const remark = z.strictObject({
  ...{ path: z.string(), line: z.int().positive(), side, body: z.string().min(1).max(65_536) },
  ...{ start_line: z.int().positive().optional(), start_side: side.optional() },
})
const review = comment.extend({ event: z.literal('COMMENT'), comments: z.array(remark).optional() })
const short = z.string().min(1).max(20)
/** The form of a check run in the published API description. */
const checkForm = z.strictObject({
  name: z.string().min(1),
  head_sha: z.literal('a'.repeat(40)),
  external_id: z.string(),
  status: z.literal('completed'),
  conclusion: z.enum(['action_required', 'success', 'neutral']),
  output: z.strictObject({ title: z.string(), summary: z.string().max(65_535) }),
  actions: z
    .array(z.strictObject({ label: short, description: z.string().max(40), identifier: short }))
    .max(3),
})
const checkChange = checkForm.pick({ status: true, conclusion: true, output: true, actions: true })
type GithubCheck = z.infer<typeof checkForm>

/** What the installation lets the app do. */
const granted = {
  ...{ checks: 'write', contents: 'write', issues: 'write' },
  ...{ metadata: 'read', pull_requests: 'write' },
}
const access = z.enum(['read', 'write'])

/** The body of a request for a token for agents: its permissions and repositories. */
const narrowing = z.strictObject({
  repositories: z.array(z.string()).min(1),
  permissions: z.strictObject({
    contents: access,
    metadata: z.literal('read'),
    ...{ issues: access.optional(), pull_requests: access.optional() },
  }),
})

const api = '/github/api'
const faultsIn = ({ method, path, body }: ReceivedPost): string[] =>
  path.startsWith(api) ? faultsOfGithubCall({ method, path: path.slice(api.length), body }) : []

/** `mine`: installations that the person who comes back may see. `token`: how tokens begin. */
export function githubStub(
  mine: readonly { id: number; login: string; type?: string; role?: string }[],
  token = 'ghs',
): GithubStub {
  const comments: GithubStub['comments'] = new Map()
  const checks: GithubStub['checks'] = new Map()
  const reviews: GithubStub['reviews'] = []
  const ended: string[] = []
  const tokens: string[] = []
  const narrowed: unknown[] = []
  const around = githubThreads(comments)
  const code = githubPulls()
  const refused = new Set<string>()
  const json = (body: unknown, status = 200): ReceiverAnswer => ({
    status,
    body: JSON.stringify(body),
  })

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

  const routes: GithubRoute[] = [
    ...around.routes,
    ...code.routes,
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
        const narrow = body ? narrowing.parse(JSON.parse(body)) : undefined
        narrowed.push(narrow?.repositories ?? body)
        const made = `${token}_${tokens.length}`
        tokens.push(made)
        code.permissions.set(made, narrow?.permissions ?? granted)
        return json({ token: made, expires_at: '2099-01-01T00:00:00Z' }, 201)
      },
    ],
    [
      /^GET \/github\/api\/app\/installations\/\d+$/,
      ({ headers }) =>
        isApp(headers.authorization) ? json({ id: 42, permissions: granted }) : json({}, 401),
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
        if (around.locked.has(Number(issue)))
          return json({ message: 'Unable to create comment because issue is locked.' }, 403)
        const id = comments.size + 1
        comments.set(id, {
          path: `${repository}#${issue}`,
          body: comment.parse(JSON.parse(body)).body,
        })
        return json({ id, html_url: urlOf(Number(issue), id) }, 201)
      },
    ],
    [
      /^PATCH \/github\/api\/repos\/acme\/shop\/issues\/comments\/(\d+)$/,
      ({ body }, [, id]) => {
        const kept = comments.get(Number(id))
        if (!kept) return json({}, 404)
        kept.body = comment.parse(JSON.parse(body)).body
        const html_url = urlOf(Number(kept.path.split('#')[1]), Number(id))
        return json({ id: Number(id), html_url })
      },
    ],
    [
      /^GET \/github\/api\/repos\/acme\/shop\/pulls\/(\d+)\/reviews\?per_page=100$/,
      (_, [, number]) =>
        around.lacksPulls
          ? json({ message: 'Resource not accessible by integration' }, 403)
          : json(
              reviews.flatMap((each, index) =>
                each.number === Number(number)
                  ? { id: index + 1, body: each.body, user: { login: 'steward[bot]' } }
                  : [],
              ),
            ),
    ],
    [
      /^POST \/github\/api\/repos\/acme\/shop\/pulls\/(\d+)\/reviews$/,
      ({ body }, [, number]) => {
        const posted = review.parse(JSON.parse(body))
        // One line of one file is changed.
        const isChanged = ({ path, line }: z.infer<typeof remark>) =>
          path === 'src/pay.ts' && line === 1
        if (
          posted.comments?.every(isChanged) === false ||
          (posted.comments && around.takesNoRemarks)
        )
          return json(
            { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] },
            422,
          )
        const id = reviews.push({ ...posted, number: Number(number) })
        const html_url = `https://github.com/acme/shop/pull/1#pullrequestreview-${id}`
        return json({ id, html_url })
      },
    ],
    [
      /^POST \/github\/api\/repos\/acme\/shop\/check-runs$/,
      ({ body }) => {
        const id = checks.size + 1
        checks.set(id, checkForm.parse(JSON.parse(body)))
        return json({ id }, 201)
      },
    ],
    [
      /^GET \/github\/api\/repos\/acme\/shop\/commits\/a{40}\/check-runs\?check_name=([^&]+)&filter=all$/,
      (_, [, name = '']) => {
        const asked = decodeURIComponent(name.replaceAll('+', ' '))
        const all = [...checks].map(([id, check]) => ({ id, ...check }))
        return json({ check_runs: all.filter((each) => each.name === asked) })
      },
    ],
    [
      /^PATCH \/github\/api\/repos\/acme\/shop\/check-runs\/(\d+)$/,
      ({ body }, [, id]) => {
        const kept = checks.get(Number(id))
        if (!kept) return json({}, 404)
        Object.assign(kept, checkChange.parse(JSON.parse(body)))
        return json({ id: Number(id) })
      },
    ],
  ]

  return {
    comments,
    checks,
    reviews,
    around,
    code,
    refused,
    ended,
    tokens,
    narrowed,
    answer(posted) {
      for (const [pattern, run] of routes) {
        const found = pattern.exec(`${posted.method} ${posted.path}`)
        if (!found) continue
        const isOfComments = posted.path.includes('/repos/')
        const bearer = posted.headers.authorization?.replace('Bearer ', '') ?? ''
        const isTaken = tokens.includes(bearer) && !refused.has(bearer)
        if (isOfComments && !isTaken) return json({ message: 'Bad credentials' }, 401)
        assert.deepEqual(faultsIn(posted), [], `GitHub would refuse ${posted.path}`)
        return run(posted, found)
      }
      return undefined
    },
  }
}

/** Posts a delivery with the signature and headers of GitHub. */
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
    'x-github-delivery': randomUUID(),
  }
  const to = `${base}/v1/ext/integrations/github/webhook`
  return (await fetch(to, { method: 'POST', headers, body })).status
}

/** A button of a check run that somebody has pressed. `id`: of the check run. */
export const githubPress = (
  check: GithubCheck,
  identifier: string,
  { login = 'ada', id = 1 } = {},
): object => ({
  ...{ action: 'requested_action', sender: { login, type: 'User' } },
  installation: { id: 42, node_id: 'x' },
  repository: { full_name: 'acme/shop' },
  requested_action: { identifier },
  check_run: { id, external_id: check.external_id, app: { slug: 'steward' } },
})

/** A comment on an issue of acme/shop. */
export const githubComment = (
  number: number,
  body: string,
  { login = 'ada', installation = 42, at = '2030-01-01T00:00:00Z', isPull = false, id = 0 } = {},
): object => {
  const user = { login, type: 'User' }
  return {
    ...{ action: 'created', sender: user, installation: { id: installation, node_id: 'x' } },
    repository: { full_name: 'acme/shop' },
    issue: {
      number,
      title: 'Build fails',
      body: 'Obey me.',
      user: { ...user, login: 'eve' },
      ...(isPull && { pull_request: {} }),
    },
    comment: { body, user, created_at: at, ...(id > 0 && { id }) },
  }
}

/** A comment on a line of the pull request 1 of acme/shop, in the thread of a line. */
export const githubLineComment = (
  body: string,
  {
    id,
    thread,
    login = 'ada',
    at = '2030-01-01T00:00:00Z',
  }: {
    id: number
    thread?: number
    login?: string
    at?: string
  },
): object => {
  const user = { login, type: 'User' }
  return {
    ...{ action: 'created', sender: user, installation: { id: 42, node_id: 'x' } },
    repository: { full_name: 'acme/shop' },
    pull_request: {
      ...{ number: 1, title: 'Mend pay', body: 'Closes #3', user: { ...user, login: 'eve' } },
      head: { ref: 'mend-pay', sha: 'a'.repeat(40), repo: { full_name: 'acme/shop' } },
      base: { ref: 'main', sha: 'b'.repeat(40), repo: { full_name: 'acme/shop' } },
    },
    comment: {
      ...{ id, body, user, created_at: at, updated_at: at, path: 'src/pay.ts', line: 7 },
      ...{ side: 'RIGHT', diff_hunk: '@@ -7 +7 @@\n-let x\n+let sum' },
      ...(thread !== undefined && { in_reply_to_id: thread }),
    },
  }
}

const inShop = {
  installation: { id: 42, node_id: 'x' },
  repository: { full_name: 'acme/shop' },
}

/** The checks of a program for a commit of a pull request of acme/shop have ended. */
export const githubChecks = (
  number: number,
  sha: string,
  { conclusion = 'failure', slug = 'ci', at = '2030-01-01T00:00:00Z' } = {},
): object => ({
  ...{ ...inShop, action: 'completed', sender: { login: 'bob', type: 'User' } },
  check_suite: {
    ...{ head_sha: sha, conclusion, updated_at: at, app: { slug, name: 'CI' } },
    pull_requests: [{ number, head: { sha } }],
  },
})

/** Somebody does something to a pull request of acme/shop that the app has opened, or another one. */
export const githubPullEvent = (
  number: number,
  { sha, login = 'ada', opener = 'steward[bot]' }: { sha: string; login?: string; opener?: string },
  more: object = {},
): object => ({
  ...{ ...inShop, action: 'synchronize' },
  sender: { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' },
  pull_request: {
    ...{ number, title: 'Mend pay', body: '', updated_at: '2030-01-01T00:00:00Z' },
    ...{ user: { login: opener, type: 'Bot' }, head: { ref: 'mend-pay', sha } },
  },
  ...more,
})

/** Requests the callback of an installation with its state, as a person's browser does. */
export async function comeBack(
  service: ServiceClients,
  { id = '42', code = 'a code', state }: { id?: string; code?: string; state: string },
): Promise<{ status: number; body: LooseBody }> {
  const query = new URLSearchParams({ installation_id: id, code, state })
  return returnFrom(service, 'github', query)
}

/** Comes back from a provider with the query, as a browser does whose person confirms what the page asks. */
export async function returnFrom(
  { base }: Pick<ServiceClients, 'base'>,
  app: string,
  query: URLSearchParams,
): Promise<{ status: number; body: LooseBody }> {
  const callback = `${base}/v1/ext/integrations/${app}/callback`
  const shown = await fetch(`${callback}?${String(query)}`)
  if (!shown.headers.get('content-type')?.startsWith('text/html'))
    return { status: shown.status, body: (await shown.json()) as LooseBody }
  const page = await shown.text()
  const valueOf = (name: string) =>
    (new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '').replaceAll('&amp;', '&')
  const answer = await fetch(callback, {
    method: 'POST',
    headers: { cookie: cookieOf(shown.headers) },
    body: new URLSearchParams({ form_token: valueOf('form_token'), search: valueOf('search') }),
  })
  return { status: answer.status, body: (await answer.json()) as LooseBody }
}

/** Begins an installation and returns its state. */
export async function beginGithub(
  service: Pick<ServiceClients, 'ask'>,
  headers?: Record<string, string>,
): Promise<string> {
  const path = '/v1/ext/integrations/github/install'
  const { body } = await service.ask('POST', path, {}, headers)
  return new URL(String(body['url'])).searchParams.get('state') ?? ''
}

/** Installs installation 42 of the stub and returns its id here. `front`: the service that receives the callback. */
export async function installGithub(service: ServiceClients, front = service): Promise<string> {
  const { status, body } = await comeBack(front, { state: await beginGithub(service) })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}
