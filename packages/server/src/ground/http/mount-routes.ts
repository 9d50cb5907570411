/** Mounts routes on the router: finds the caller, parses the input, sends the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { runOnce } from '@steward/base/shared-runs.ts'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Dialect } from '@steward/protocol/dialects.ts'
import { inDialect } from '@steward/protocol/dialects.ts'
import type { Context } from 'hono'
import { Hono } from 'hono'
import { invalid, PlatformError } from '../core/errors.ts'
import { newId } from '../core/text/ids.ts'
import { heavyBytes } from '../core/fairness/event-loop.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../database/database.ts'
import { parseInput, parseJson, readText, bodyTooLarge } from './bodies/body.ts'
import { absentPage, absentPageHeaders, wantsPage } from './absent-page.ts'
import { unknownPathErrors } from './unknown-path.ts'
import type { NoteCaller } from './request-observations.ts'
import { observeRequest } from './request-observations.ts'
import type { CallerDeps, Header } from './caller.ts'
import { anonymousPrincipal, identifyCaller } from './caller.ts'
import { admitConnection } from './connections.ts'
import type { AddressDeps } from './client-address.ts'
import { clientAddress, countFailures } from './client-address.ts'
import { readBetas, requestDialect } from './dialect.ts'
import { checkHead } from './head.ts'
import { plainBody } from './limits.ts'
import type { AuditAround } from './route-audit.ts'
import { answerEarly, isBodyPending } from './early-answer.ts'
import type { Principal } from './principal.ts'
import type { OpenAnswers } from './open-answers.ts'
import { holdOpen } from './open-answers.ts'
import { readQuery } from './query.ts'
import { createRawRequest } from './bodies/raw-body.ts'
import type { RouteReply } from './reply.ts'
import type { RateLimits, Verdict } from './rate-limits.ts'
import { createRequestCounting } from './rate-limits.ts'
import { isReply } from './reply.ts'
import type { RawRequest, Route } from './route.ts'
import { streamHeaders, writeStream } from './sse.ts'
import { switchProtocol } from './protocol-switch.ts'
import type { StreamSlot, Streams } from './streams.ts'
import type { TextHold, TextMemory } from './bodies/text-memory.ts'
import { textMemory } from './bodies/text-memory.ts'
import type { LaterRoutes, SurfaceWire } from './wire.ts'
import { ownWire } from './wire.ts'
import type { NoteDeprecated } from './deprecations.ts'
import { deprecations } from './deprecations.ts'
import type { TextPieces } from './bodies/write-body.ts'
import { readerSignal, writeBytes, writeTexts } from './bodies/write-body.ts'

type NodeBindings = { Bindings: { incoming: IncomingMessage; outgoing: ServerResponse } }
type HttpContext = Context<NodeBindings>

export function mountRoutes(
  routes: readonly Route[],
  given: RouteDeps,
  later: readonly LaterRoutes[] = [],
): Hono<NodeBindings> {
  const kept = { bodies: textMemory('bodies'), answers: textMemory('answers'), wire: ownWire }
  const deps: RouteMountDeps = { ...kept, noteDeprecated: deprecations(given.log), ...given }
  const app = new Hono<NodeBindings>()
  const absent = unknownPathErrors(routes)
  for (const each of later) app.all(`${each.prefix}/*`, loading(each, deps))
  for (const route of routes) {
    app.on(route.method.toUpperCase(), route.path, async (http) => {
      const requestId = nameRequest(http, deps)
      const noteCaller = observeRequest(http.env, { requestId, route, params: http.req.param() })
      try {
        return await answer(http, route, { ...deps, requestId, noteCaller })
      } catch (error) {
        return refuse(http, error, requestId, { ...deps, route })
      }
    })
  }
  app.notFound((http) => {
    const requestId = nameRequest(http, deps)
    observeRequest(http.env, { requestId })
    try {
      checkHead(http.env.incoming)
      if (wantsPage(http.env.incoming))
        return http.body(absentPage, 404, { ...absentPageHeaders, 'request-id': requestId })
      throw absent(http.req.method, http.req.path)
    } catch (error) {
      return refuse(http, error, requestId, deps)
    }
  })
  return app
}

function nameRequest({ env: { outgoing } }: HttpContext, { wire }: RouteMountDeps): string {
  const requestId = newId('request')
  if (wire.requestIdHeader) outgoing.setHeader(wire.requestIdHeader, requestId)
  return requestId
}

/** Loads routes with the first request. A failed load is repeated by the next request. */
function loading(
  { load, wire }: LaterRoutes,
  deps: RouteMountDeps,
): (http: HttpContext) => Promise<Response> {
  const loaded = runOnce(async () => mountRoutes(await load(), { ...deps, wire }))
  return async (http) => (await loaded()).fetch(http.req.raw, http.env)
}

/** Reads headers of node's request, so that no web-standard request is created for them. */
const headerOf =
  (incoming: IncomingMessage): Header =>
  (name) => {
    const value = incoming.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

type RouteDeps = CallerDeps &
  AddressDeps & {
    databases: Databases
    streams: Streams
    openAnswers: OpenAnswers
    /** Undefined: requests are not limited. */
    rateLimits?: RateLimits | undefined
    /** Undefined: calls have no audit lines. */
    audit?: AuditAround | undefined
    log: Log
    clock: Clock
    wire?: SurfaceWire
  }
type RouteMountDeps = RouteDeps & {
  bodies: TextMemory
  answers: TextMemory
  wire: SurfaceWire
  noteDeprecated: NoteDeprecated
}
type RequestDeps = RouteMountDeps & { requestId: string; noteCaller: NoteCaller }

/** Releases what the request holds once its response is closed and its handler has ended, in either order. */
async function answer(http: HttpContext, route: Route, answering: RequestDeps) {
  const { outgoing } = http.env
  const held: TextHold[] = []
  const release = () => {
    for (const each of held) each.release()
  }
  try {
    return await respond(http, route, answering, held)
  } finally {
    if (outgoing.closed || outgoing.destroyed) release()
    else outgoing.once('close', release)
  }
}

async function respond(http: HttpContext, route: Route, answering: RequestDeps, held: TextHold[]) {
  const { databases, requestId, rateLimits, audit, wire, clock } = answering
  const { incoming, outgoing } = http.env
  checkHead(incoming)
  const header = headerOf(incoming)
  const headersOf = (verdict: Verdict) => wire.rateLimitHeaders(verdict, clock.now())
  const counting = createRequestCounting(rateLimits, { route, outgoing, headersOf })
  const address = clientAddress(incoming, answering)
  const calling = identifyCaller(header, route, http.req.param(), answering, counting.begin)
  const principal = await countFailures(calling, { ...answering, header, address })
  if (principal !== anonymousPrincipal) admitConnection(incoming.socket)
  answering.noteCaller(principal)
  const dialect = requestDialect(header)
  if (http.req.url.includes('%00')) throw invalid('a path or query may not hold a NUL character')
  const search = searchOf(http.req.url)
  const call = {
    tenant: principal.tenant,
    db: principal.tenant === '' ? databases.control : await databases.open(principal.tenant),
    principal,
    dialect,
    params: http.req.param(),
    search,
    query: readQuery(route, search),
    body: route.body ? await parsedBody(route.body) : undefined,
    betas: readBetas(header),
    accept: header('accept') ?? '',
    lastEventId: header('last-event-id') ?? null,
    origin: `http://${header('host') ?? 'localhost'}`,
    workerId: header('anthropic-worker-id'),
    header,
    address,
    get signal() {
      return http.req.raw.signal
    },
  }
  const { result, enter } = await withSlot(
    answering.streams,
    { tenant: principal.tenant, incoming, isStream: isStream(route, call.body) },
    run,
  )
  if (isReply(result) && result.reply !== 'text')
    return sendReply(http, result, { ...answering, dialect, enter, principal })
  const text =
    isReply(result) && result.reply === 'text'
      ? result.text
      : JSON.stringify(inDialect(result, dialect, call.betas))
  if (text.length > heavyBytes) roomFor(answering.answers).hold(text.length)
  return json(text, route.status ?? 200, { 'request-id': requestId })

  function roomFor(kind: TextMemory) {
    const holding = kind.open(principal.tenant)
    held.push(holding)
    return { tenant: principal.tenant, hold: holding.hold }
  }

  function parsedBody(schema: NonNullable<Route['body']>): Promise<unknown> {
    const parse = async () => {
      const body: unknown = parseInput(schema, await jsonOf(incoming))
      answering.noteDeprecated(route, body)
      return body
    }
    return counting.withBody(principal, parse)
  }

  /** Reads a body, which may take minutes. Then finds the caller again, in case the key was revoked. */
  async function textOf(body: Readable): Promise<string> {
    const limits = route.limits ?? plainBody
    if (Number(header('content-length') ?? 0) > limits.bytes) throw bodyTooLarge(limits)
    const begun = answering.clock.now()
    const text = await readText(body, limits, roomFor(answering.bodies))
    if (answering.clock.now() - begun >= lateMs)
      await identifyCaller(header, route, http.req.param(), answering, () => {})
    return text
  }

  async function jsonOf(body: Readable): Promise<unknown> {
    return parseJson(await textOf(body))
  }

  /** Runs the handler. After an error destroys an unread raw body, so that the error can be sent. */
  async function run(): Promise<object | RouteReply> {
    let raw: RawRequest | undefined
    try {
      const handle = () => route.run(call, () => (raw ??= rawHeld()))
      return await (audit ? audit(route, call, requestId, handle) : handle())
    } catch (error) {
      raw?.body?.destroy()
      throw error
    }
  }

  function rawHeld(): RawRequest {
    const raw = createRawRequest(http.env, textOf)
    const end = () => raw.body?.destroy()
    if (raw.body) holdOpen(answering.openAnswers, { outgoing, principal, end })
    return raw
  }
}

/** Milliseconds of a body after which its caller is found again. Usual requests need no second look-up. */
const lateMs = 100

function searchOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

const isStream = (route: Route, body: unknown): boolean =>
  route.answer === 'stream' || (route.isStream?.(body) ?? false)

/** Takes a stream's slot before the handler runs, so that a request without a slot has no effect. */
async function withSlot<T>(
  streams: Streams,
  asked: { tenant: string; incoming: IncomingMessage; isStream: boolean },
  run: () => Promise<T>,
): Promise<{ result: T; enter: () => StreamSlot }> {
  const { tenant, incoming } = asked
  if (!asked.isStream || incoming.method === 'HEAD')
    return { result: await run(), enter: () => streams.enter(tenant) }
  const slot = streams.enter(tenant)
  try {
    return { result: await run(), enter: () => slot }
  } catch (error) {
    slot.leave()
    throw error
  }
}

function sendReply(
  { env: { incoming, outgoing } }: HttpContext,
  result: Exclude<RouteReply, { reply: 'text' }>,
  {
    dialect,
    enter,
    log,
    clock,
    requestId,
    openAnswers,
    principal,
  }: RequestDeps & { dialect: Dialect; enter: () => StreamSlot; principal: Principal },
): Response {
  const headers = { 'request-id': requestId }
  const head = incoming.method === 'HEAD'
  switch (result.reply) {
    case 'json':
      return json(JSON.stringify(inDialect(result.body, dialect)), result.status, {
        ...headers,
        ...result.headers,
      })
    case 'empty':
      return new Response(null, {
        status: result.status,
        headers: { ...headers, ...result.headers },
      })
    case 'texts':
      if (head) return new Response(null, { headers: { ...headers, ...jsonHeaders } })
      endsWithKey(() => outgoing.destroy())
      return written(writePieces(outgoing, result.texts, { headers, clock }))
    case 'raw':
      if (head) return headOf(result, requestId)
      endsWithKey(() => outgoing.destroy())
      return written(passOn(outgoing, result, { requestId, clock }))
    case 'switch':
      switchProtocol(result.protocol, { incoming, outgoing }, result.take)
      return RESPONSE_ALREADY_SENT
    case 'stream':
      if (head) return new Response(null, { headers: { ...headers, ...streamHeaders } })
      return written(writeStream(outgoing, result.frames, { headers, clock, slot: slotOfKey() }))
  }

  function endsWithKey(end: () => void): void {
    holdOpen(openAnswers, { outgoing, principal, end })
  }

  function slotOfKey(): StreamSlot {
    const slot = enter()
    endsWithKey(() => slot.end())
    return slot
  }

  /** Does not wait for the writing: a stream that is open for hours must not keep its request in memory. */
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
  texts: TextPieces,
  { headers, clock }: { headers: Record<string, string>; clock: Clock },
): Promise<void> {
  const gone = readerSignal(outgoing)
  outgoing.writeHead(200, { ...headers, ...jsonHeaders })
  await writeTexts(outgoing, texts(gone), { ends: gone, clock })
}

function headOf(
  { status, headers, body }: Extract<RouteReply, { reply: 'raw' }>,
  requestId: string,
): Response {
  body.destroy()
  return new Response(null, { status, headers: [...headers, ['request-id', requestId]] })
}

/** Passes on an answer, which may pause for any time. Ends it only when the reader takes nothing. */
async function passOn(
  outgoing: ServerResponse,
  { status, headers, body, ours }: Extract<RouteReply, { reply: 'raw' }>,
  { requestId, clock }: { requestId: string; clock: Clock },
): Promise<void> {
  outgoing.setTimeout(0)
  outgoing.writeHead(status, [...headers.flat(), 'request-id', requestId])
  // A body of known length follows at once, and a short one fits the packet of the headers.
  const isKnown = headers.some(([name]) => name.toLowerCase() === 'content-length')
  if (!isKnown) outgoing.flushHeaders()
  await writeBytes(outgoing, body, { clock, ours })
}

const json = (text: string, status: number, headers: Record<string, string>) =>
  new Response(text, { status, headers: { ...headers, ...jsonHeaders } })

function refuse(
  http: HttpContext,
  error: unknown,
  requestId: string,
  { log, wire, route }: RouteMountDeps & { route?: Route },
): Response {
  const { status, headers, body } = wire.errorAnswer(error, {
    dialect: requestDialect(headerOf(http.env.incoming)),
    requestId,
  })
  if (status >= 500 && !(error instanceof PlatformError)) {
    log.error('a request failed', {
      request_id: requestId,
      method: http.req.method,
      // The token in the path is a credential.
      path: route?.path.includes(':token') ? route.path : http.req.path,
      error,
    })
  }
  if (http.env.outgoing.headersSent) {
    http.env.outgoing.destroy()
    return RESPONSE_ALREADY_SENT
  }
  const text = JSON.stringify(body)
  const all = { ...headers, 'request-id': requestId }
  if (!isBodyPending(http.env.incoming)) return json(text, status, all)
  answerEarly(http.env, { status, headers: { ...all, ...jsonHeaders }, text })
  return RESPONSE_ALREADY_SENT
}
