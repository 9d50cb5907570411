/**
 * Creates the GitHub app of this service in an operator's browser. A page on this machine sends the app's manifest to
 * GitHub. GitHub sends the browser back with a code, and gives the app's secrets for the code once.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { serverProgram } from '../../../ground/config/settings.ts'
import { asOperator } from '../../../ground/core/security/dial.ts'
import { parsePayload } from '../deliveries/payload.ts'

export type GithubManifestRequest = {
  /** The URL at which GitHub reaches the service. */
  publicUrl: string
  /** The URL at which people use GitHub. */
  url: string
  apiUrl: string
  /** Called with the URL of the page where the operator begins. */
  tell: (page: string) => void
}

const mostBody = 16 * 1024

const made = z.object({
  id: z.number().int().positive(),
  slug: z.string().min(1),
  html_url: z.string(),
  pem: z.string().min(1),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
  webhook_secret: z.string().min(24),
})

/** The settings of the app. SECRET: shown to the operator alone. */
export type GithubAppSettings = Readonly<Record<string, string>>

const manifestOf = (publicUrl: string, page: string): object => ({
  name: `Steward ${randomBytes(3).toString('hex')}`,
  url: publicUrl,
  hook_attributes: { url: `${publicUrl}/v1/ext/integrations/github/webhook`, active: true },
  redirect_url: `${page}/made`,
  callback_urls: [`${publicUrl}/v1/ext/integrations/github/callback`],
  request_oauth_on_install: true,
  public: false,
  default_permissions: {
    checks: 'write',
    contents: 'write',
    issues: 'write',
    members: 'read',
    metadata: 'read',
    pull_requests: 'write',
  },
  default_events: [
    'check_run',
    'check_suite',
    'issues',
    'issue_comment',
    'pull_request',
    'pull_request_review',
    'pull_request_review_comment',
  ],
})

const escaped = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const pageOf = (body: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Steward at GitHub</title><body>${body}</body>`

const formOf = (manifest: object): string =>
  pageOf(
    `<h1>Make the GitHub app of this service</h1><form method="post" action="/begin"><p><label>Organisation, or nothing for your own account: <input name="organization" pattern="[A-Za-z0-9-]*"></label></p><input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}"><button>Go to GitHub</button></form>`,
  )

const organizationForm = /^[A-Za-z0-9-]{0,39}$/

/** Resolves when GitHub has created the app. Rejects when GitHub gives no secrets, or when the signal aborts. */
export async function makeGithubApp(
  { publicUrl, url, apiUrl, tell }: GithubManifestRequest,
  signal: AbortSignal,
): Promise<GithubAppSettings> {
  const state = randomBytes(16).toString('hex')
  const { promise: done, resolve, reject } = Promise.withResolvers<GithubAppSettings>()
  let page = ''
  let isTaken = false

  async function begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const organization = new URLSearchParams(body.slice(0, mostBody)).get('organization') ?? ''
    if (!organizationForm.test(organization))
      return void response.writeHead(400).end(pageOf('No such name of an organisation.'))
    const prefix = organization === '' ? '' : `/organizations/${organization}`
    // Status 307 makes the browser post the same form to GitHub.
    const location = `${url}${prefix}/settings/apps/new?state=${state}`
    response.writeHead(307, { location }).end()
  }

  /** Returns undefined when the browser does not come from GitHub with this state, or comes a second time. */
  function codeOf({ pathname, searchParams }: URL): string | undefined {
    const isBack = pathname === '/made' && searchParams.get('state') === state && !isTaken
    return (isBack && searchParams.get('code')) || undefined
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Attack: a foreign host name that resolves to this machine could read the page. Such a request is refused.
    if (request.headers.host !== new URL(page).host) return void response.writeHead(421).end()
    const asked = new URL(request.url ?? '/', page)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.setHeader('cache-control', 'no-store')
    const call = `${request.method} ${asked.pathname}`
    if (call === 'GET /') return void response.end(formOf(manifestOf(publicUrl, page)))
    if (call === 'POST /begin') return begin(request, response)
    const code = codeOf(asked)
    if (code === undefined) return void response.writeHead(404).end(pageOf('Nothing is here.'))
    isTaken = true
    const settings = await settingsFor(apiUrl, code, signal)
    response.end(pageOf('The app is made. Its settings are where you have begun; close this page.'))
    resolve(settings)
  }

  const local = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(pageOf('GitHub gave no app. The reason is where you have begun.'))
      reject(error instanceof Error ? error : new Error(String(error)))
    })
  })
  local.listen(0, '127.0.0.1')
  await once(local, 'listening')
  const { port } = local.address() as AddressInfo
  page = `http://127.0.0.1:${port}`
  signal.addEventListener('abort', () => reject(new Error('the app was not made')), { once: true })
  tell(page)
  try {
    return await done
  } finally {
    local.close()
    local.closeIdleConnections()
  }
}

async function settingsFor(
  apiUrl: string,
  code: string,
  signal: AbortSignal,
): Promise<GithubAppSettings> {
  const answer = await asOperator(() =>
    fetch(`${apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`, {
      method: 'POST',
      headers: { accept: 'application/vnd.github+json', 'user-agent': 'steward' },
      redirect: 'error',
      signal,
    }),
  )
  const { data } = made.safeParse(parsePayload(Buffer.from(await answer.arrayBuffer())))
  if (!data)
    throw new Error(`GitHub gave no app for the code: status ${answer.status}; begin again`)
  const { github } = serverProgram.settings.integrations
  return {
    [github.appId.name]: String(data.id),
    [github.slug.name]: data.slug,
    [github.privateKey.name]: data.pem.trimEnd().replaceAll('\n', '\\n'),
    [github.clientId.name]: data.client_id,
    [github.clientSecret.name]: data.client_secret,
    [github.webhookSecret.name]: data.webhook_secret,
  }
}
