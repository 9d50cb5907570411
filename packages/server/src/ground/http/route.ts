/** A route is data: the router, the parsing, the published description and the isolation walk read the same record. */
import type { Readable } from 'node:stream'
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { z } from 'zod'
import type { Database } from '../database/database.ts'
import type { RequestClass } from '../core/rates.ts'
import type { BodyLimits } from './limits.ts'
import type { CallerKind, ClaimScope, Principal } from './principal.ts'
import type { RouteReply } from './reply.ts'

type ParameterNames<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParameterNames<Head> | ParameterNames<Tail>
  : Path extends `:${infer Name}`
    ? Name
    : never

export type RouteCall<Path extends string, Query, Body> = {
  tenant: string
  /** The tenant's database, for the whole of the call; for a route that anyone calls, the control database. */
  db: Database
  principal: Principal
  dialect: Dialect
  params: Record<ParameterNames<Path>, string>
  query: Query
  /** The query as it came, without its question mark. */
  search: string
  body: Body
  /** Values of `vendor-beta` and `anthropic-beta` together. */
  betas: ReadonlySet<string>
  accept: string
  /** The last event a reconnecting reader has seen, as its header says. */
  lastEventId: string | null
  /** Where the caller has found this service. */
  origin: string
  /** As a worker that polls names itself. */
  workerId: string | undefined
  /** By its name in lower case. */
  header: (name: string) => string | undefined
  /** The address of whoever has connected. */
  address: string
  /** Aborts when the caller goes away. */
  signal: AbortSignal
}

/** A request as it came, for a route that passes it on. */
export type RawRequest = {
  method: string
  /** In the order and case they came; a name may come twice. */
  headers: [name: string, value: string][]
  /** Null when there is none. */
  body: Readable | null
  /** Reads the body within the limits of the route, in place of reading it as it comes. Encoded again, it has the same bytes. */
  text: () => Promise<string>
  json: () => Promise<unknown>
  /** Reads the body as a form of a page. */
  form: () => Promise<URLSearchParams>
  /** Aborts when the caller goes away before it has its answer. */
  signal: AbortSignal
}

export type RouteDeclaration<Path extends string, Query, Body> = {
  method: Method
  /** Segments beginning with `:` are parameters. */
  path: Path
  callers: readonly CallerKind[]
  /** With the caller `claim`: what of a claim it opens. */
  claim?: ClaimScope
  /** The heading of docs/interface.md under which it stands, without its number. */
  section: string
  summary: string
  /** Sentences beyond the summary, for whoever reads the description. */
  description?: string
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** Of its JSON body, where `plainBody` is too little. */
  limits?: BodyLimits
  /** How its requests count against the limits of a workspace; left out: GET as a read, all else as a write. */
  counted?: RequestClass | 'never'
  /** Whether a request with this body is not counted. The body is parsed before the request is counted. */
  isUncounted?(body: Body): boolean
  /** Whether the answer to this body is a stream, for a route that answers with one or the other. */
  isStream?(body: Body): boolean
  /** Fields of a multipart form, which `run` reads itself. */
  form?: z.ZodType
  /** The form as a JSON body, where a caller may send that in its place. */
  formAsJson?: z.ZodType
  /** A body that is neither a JSON body nor a form of ours: `run` reads it itself. */
  bytes?: BytesBody
  /**
   * What a successful answer looks like; `stream` is text/event-stream, `none` has no body, `bytes` are of any type,
   * `any` is whatever somebody else answers, as is what they are sent.
   */
  answer: z.ZodType | 'stream' | 'none' | 'bytes' | 'any'
  status?: number
  /** The official interface has no such operation. Nothing below `/v1/ext/` has to say so. */
  isExtension?: boolean
  /** A page for people, or a part of one: the published description leaves it out. */
  isPage?: boolean
  /** The operation of which this is another spelling: `routeAlias` sets it. */
  aliasOf?: { method: Method; path: string }
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** For the published description: the media type of a body, and a sentence that says what the body holds. */
export type BytesBody = { type: string; description: string }

export type Route = Omit<RouteDeclaration<string, unknown, unknown>, 'query' | 'body'> & {
  query?: z.ZodType
  body?: z.ZodType
  run: (
    call: RouteCall<string, unknown, unknown>,
    raw: () => RawRequest,
  ) => Promise<object | RouteReply>
}

/** Declares one route. `run` returns a JSON body, or a `RouteReply` for anything else. */
export function route<const Path extends string, Query = undefined, Body = undefined>(
  declared: RouteDeclaration<Path, Query, Body>,
  run: (call: RouteCall<Path, Query, Body>) => Promise<object | RouteReply>,
): Route {
  return { ...declared, run: run as Route['run'] }
}

/** Declares one that reads the request itself: nothing of it is parsed, and bodies stream both ways. */
export function rawRoute<const Path extends string>(
  declared: Omit<
    RouteDeclaration<Path, undefined, undefined>,
    'query' | 'body' | 'status' | 'answer'
  > &
    Pick<Partial<RouteDeclaration<Path, undefined, undefined>>, 'answer'>,
  run: (
    call: RouteCall<Path, undefined, undefined>,
    raw: RawRequest,
  ) => Promise<object | RouteReply>,
): Route {
  return { answer: 'any', ...declared, run: (call, raw) => run(call as never, raw()) }
}

/** Another spelling of one operation: the published description says of which. */
export const routeAlias = (
  declared: Route,
  change: Pick<Partial<Route>, 'method' | 'path'>,
): Route => ({
  ...declared,
  ...change,
  aliasOf: { method: declared.method, path: declared.path },
  isExtension: true,
})
