/** Routes as data onto the router: who calls, what they sent, what they get. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Dialect } from '@steward/protocol/dialects.ts'
import { inDialect } from '@steward/protocol/dialects.ts'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { forbidden, invalid, PlatformError, unauthorized } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import { parseBy, parseJson, readBody } from './body.ts'
import { errorAnswer } from './errors.ts'
import type {
  Authenticate,
  ClaimByKey,
  ClaimPrincipal,
  Principal,
  WithinClaim,
} from './principal.ts'
import { isKeyScope, mayCall } from './principal.ts'
import { queryObject } from './query.ts'
import type { Reply } from './reply.ts'
import { isReply } from './reply.ts'
import type { Raw, Route } from './route.ts'
import { streamHeaders, writeStream } from './sse.ts'
import { switchTo } from './switching.ts'
import type { Texts } from './write.ts'
import { readerOf, writeBytes, writeTexts } from './write.ts'

type Env = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } }
type Http = Context<Env>

const nobody: Principal = { kind: 'workspace', tenant: '', keyId: '', admin: false }

export function mount(routes: readonly Route[], deps: Deps) {
  const app = new Hono<Env>()
  for (const route of routes) {
    app.on(route.method.toUpperCase(), route.path, async (http) => {
      const requestId = newId('request')
      try {
        return await answer(http, route, { ...deps, requestId })
      } catch (error) {
        return refuse(http, error, requestId, deps.log)
      }
    })
  }
  app.notFound((http) => {
    const { method, path } = http.req
    const error = new PlatformError('not_found', `there is no ${method} ${path}`)
    return refuse(http, error, newId('request'), deps.log)
  })
  return app
}

type Header = (name: string) => string | undefined

/** Read from node's own request: the web standard's is made only when something asks for it. */
const headerOf =
  (incoming: IncomingMessage): Header =>
  (name) => {
    const value = incoming.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

const dialectOf = (header: Header): Dialect =>
  header('anthropic-version') === undefined ? 'interface' : 'client'

type Deps = {
  authenticate: Authenticate
  withinClaim: WithinClaim
  claimByKey: ClaimByKey
  log: Log
  clock: Clock
}
type Answering = Deps & { requestId: string }

async function answer(http: Http, route: Route, answering: Answering) {
  const { requestId } = answering
  const { incoming } = http.env
  const header = headerOf(incoming)
  const principal = await callerOf(header, route, http.req.param(), answering)
  const dialect = dialectOf(header)
  if (http.req.url.includes('%00')) throw invalid('a path or query may not hold a NUL character')
  const search = http.req.url.indexOf('?')
  const query = search < 0 ? {} : queryObject(new URLSearchParams(http.req.url.slice(search)))
  const call = {
    tenant: principal.tenant,
    principal,
    dialect,
    params: http.req.param(),
    search: search < 0 ? '' : http.req.url.slice(search + 1),
    query: route.query ? parseBy(route.query, query) : undefined,
    body: route.body ? parseBy(route.body, parseJson(await readBody(incoming))) : undefined,
    betas: betasOf(header),
    accept: header('accept') ?? '',
    lastEventId: header('last-event-id') ?? null,
    origin: `http://${header('host') ?? 'localhost'}`,
    workerId: header('anthropic-worker-id'),
    get signal() {
      return http.req.raw.signal
    },
  }
  const result = await route.run(call, () => rawOf(http.env))
  if (isReply(result)) return replied(http, result, dialect, answering)
  return json(inDialect(result, dialect, call.betas), route.status ?? 200, {
    'request-id': requestId,
  })
}

/** Throws for whoever may not call the route, or names another workspace than that of the credential. */
async function callerOf(
  header: Header,
  route: Route,
  params: Record<string, string>,
  answering: Answering,
): Promise<Principal> {
  if (route.callers.includes('anyone')) return nobody
  const caller = await answering.authenticate(header)
  const principal = await standsFor(caller, route, params, answering)
  if (!mayCall(route.callers, principal)) throw refusal(route, principal)
  const named = header('anthropic-workspace-id')
  if (named && named !== principal.tenant)
    throw forbidden(`anthropic-workspace-id: the credential is not one of workspace ${named}`)
  if (principal.kind === 'claim') await checkClaim(principal, route, params, answering)
  return principal
}

/** An environment key that reaches sessions is, on a claim's route, the claim that is live there. */
async function standsFor(
  caller: Principal,
  { callers, claim: scope }: Route,
  params: Record<string, string>,
  { claimByKey }: Answering,
): Promise<Principal> {
  if (caller.kind !== 'environment' || caller.reach !== 'sessions') return caller
  if (callers.includes('environment') || !callers.includes('claim') || !isKeyScope(scope))
    return caller
  return (await claimByKey(caller, scope, params)) ?? caller
}

const gone = {
  expired: 'the lease of this claim has run out: only its heartbeat and stop are open',
  stale: 'the claim has ended, or another has it now',
}

/** A worker's token opens what its claim covers, and after its lease the claim itself alone. */
async function checkClaim(
  claim: ClaimPrincipal,
  { claim: scope }: Route,
  params: Record<string, string>,
  { withinClaim }: Answering,
): Promise<void> {
  if (claim.standing !== 'current' && scope !== 'work') throw unauthorized(gone[claim.standing])
  if (!scope || !(await withinClaim(claim, scope, params)))
    throw forbidden('the claim does not cover this')
}

function replied(
  { env: { incoming, outgoing } }: Http,
  result: Reply,
  dialect: Dialect,
  { log, clock, requestId }: Answering,
): Response {
  const headers = { 'request-id': requestId }
  const head = incoming.method === 'HEAD'
  switch (result.reply) {
    case 'json':
      return json(inDialect(result.body, dialect), result.status, { ...headers, ...result.headers })
    case 'empty':
      return new Response(null, { status: result.status, headers })
    case 'texts':
      if (head) return new Response(null, { headers: { ...headers, ...jsonHeaders } })
      return written(writePieces(outgoing, result.texts, { headers, clock }))
    case 'raw':
      if (head) return headOf(result, requestId)
      return written(passOn(outgoing, result, { requestId, clock }))
    case 'switch':
      switchTo(result.protocol, { incoming, outgoing }, result.take)
      return RESPONSE_ALREADY_SENT
    case 'stream':
      if (head) return new Response(null, { headers: { ...headers, ...streamHeaders } })
      return written(writeStream(outgoing, result.frames, { headers, clock }))
  }

  /** Not waited for: a stream that is open for hours must not hold on to its request. */
  function written(writing: Promise<void>): Response {
    writing.catch((error: unknown) => {
      log.error('a stream failed', { error, request_id: requestId })
      outgoing.destroy()
    })
    return RESPONSE_ALREADY_SENT
  }
}

const jsonHeaders = { 'content-type': 'application/json' }

async function writePieces(
  outgoing: ServerResponse,
  texts: Texts,
  { headers, clock }: { headers: Record<string, string>; clock: Clock },
): Promise<void> {
  const gone = readerOf(outgoing)
  outgoing.writeHead(200, { ...headers, ...jsonHeaders })
  await writeTexts(outgoing, texts(gone), { gone, clock })
}

function rawOf({ incoming, outgoing }: Env['Bindings']): Raw {
  const { method = '', rawHeaders, headers } = incoming
  const isThere =
    headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined
  return {
    method,
    headers: Array.from({ length: rawHeaders.length / 2 }, (_, i): [string, string] => [
      rawHeaders[2 * i] ?? '',
      rawHeaders[2 * i + 1] ?? '',
    ]),
    body: isThere ? bodyOf(incoming) : null,
    signal: leaving(outgoing),
  }
}

/** An abort makes an error, with its stack: none is made when all went well. */
function leaving(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  return gone.signal
}

/** Given up, it leaves the connection as it is, so that an answer that came early is still read. */
function bodyOf(incoming: IncomingMessage): Readable {
  const body = new Readable({
    read: () => incoming.resume(),
    destroy(error, done) {
      incoming.off('data', take).resume()
      done(error)
    },
  })
  const take = (chunk: Buffer) => {
    if (!body.push(chunk)) incoming.pause()
  }
  const broken = (cause?: unknown) => {
    if (!incoming.complete) body.destroy(new Error('the body broke off', { cause }))
  }
  incoming
    .on('data', take)
    .once('end', () => body.push(null))
    .once('error', broken)
    .once('close', broken)
    .pause()
  return body
}

function headOf(
  { status, headers, body }: Extract<Reply, { reply: 'raw' }>,
  requestId: string,
): Response {
  body.destroy()
  return new Response(null, { status, headers: [...headers, ['request-id', requestId]] })
}

/** The answer may pause for as long as it likes: only a reader that takes nothing is let go. */
async function passOn(
  outgoing: ServerResponse,
  { status, headers, body, ours }: Extract<Reply, { reply: 'raw' }>,
  { requestId, clock }: { requestId: string; clock: Clock },
): Promise<void> {
  outgoing.setTimeout(0)
  outgoing.writeHead(status, [...headers.flat(), 'request-id', requestId])
  // A body of known length follows at once, in the same packet where it is short.
  const isKnown = headers.some(([name]) => name.toLowerCase() === 'content-length')
  if (!isKnown) outgoing.flushHeaders()
  await writeBytes(outgoing, body, { clock, ours })
}

const json = (body: object | null, status: number, headers: Record<string, string>) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...headers, ...jsonHeaders },
  })

function refusal(route: Route, principal: Principal): PlatformError {
  if (principal.kind === 'environment') return unauthorized(refusalOfKey(route, principal.reach))
  if (principal.kind === 'mcp') return unauthorized('this token reaches one MCP server, not this')
  return route.callers.includes('admin')
    ? forbidden('this needs a workspace-admin key')
    : forbidden('a workspace key does not reach this')
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

const none: ReadonlySet<string> = new Set()

function betasOf(header: Header): ReadonlySet<string> {
  const both = [header('anthropic-beta'), header('vendor-beta')].filter(
    (value) => value !== undefined,
  )
  if (both.length === 0) return none
  const values = both.join(',').split(',')
  return new Set(values.map((value) => value.trim()).filter(Boolean))
}

function refuse(http: Http, error: unknown, requestId: string, log: Log): Response {
  const { status, headers, body } = errorAnswer(error, {
    dialect: dialectOf(headerOf(http.env.incoming)),
    requestId,
  })
  if (status >= 500 && !(error instanceof PlatformError)) {
    log.error('a request failed', {
      request_id: requestId,
      method: http.req.method,
      path: http.req.path,
      error,
    })
  }
  if (http.env.outgoing.headersSent) {
    http.env.outgoing.destroy()
    return RESPONSE_ALREADY_SENT
  }
  return json(body, status, { ...headers, 'request-id': requestId })
}
