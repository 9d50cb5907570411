/** A route is data: the router, the parsing, the published description and the isolation walk read the same record. */
import type { Readable } from 'node:stream'
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { z } from 'zod'
import type { Database } from '../database/database.ts'
import type { RequestClass } from '../core/fairness/rates.ts'
import type { BodyLimits } from './limits.ts'
import type { ClaimScope, Principal } from './principal.ts'
import type { CallerKind, RoleOperation } from './permissions.ts'
import type { RouteReply } from './reply.ts'

type ParameterNames<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParameterNames<Head> | ParameterNames<Tail>
  : Path extends `:${infer Name}{${string}}`
    ? Name
    : Path extends `:${infer Name}`
      ? Name
      : never

export type RouteCall<Path extends string, Query, Body> = {
  tenant: string
  /** The tenant's database for the whole call. For a route that anyone may call: the control database. */
  db: Database
  principal: Principal
  dialect: Dialect
  params: Record<ParameterNames<Path>, string>
  query: Query
  /** The unparsed query, without its question mark. */
  search: string
  body: Body
  /** Values of `vendor-beta` and `anthropic-beta` together. */
  betas: ReadonlySet<string>
  accept: string
  /** The `Last-Event-ID` header of a reader that reconnects. */
  lastEventId: string | null
  /** The origin under which the caller reached this service. */
  origin: string
  /** The name that a polling worker gives itself. */
  workerId: string | undefined
  /** Returns a header by its name in lower case. */
  header: (name: string) => string | undefined
  /** The client's IP address. */
  address: string
  /** Aborts when the caller disconnects. */
  signal: AbortSignal
}

/** An unparsed request, for a route that passes it on. */
export type RawRequest = {
  method: string
  /** Headers in their original order and case. A name may occur twice. */
  headers: [name: string, value: string][]
  /** Null when there is none. */
  body: Readable | null
  /** Reads the whole body within the route's limits, in place of `body`. As UTF-8 the text has the same bytes. */
  text: () => Promise<string>
  json: () => Promise<unknown>
  /** Reads the body as a URL-encoded form. */
  form: () => Promise<URLSearchParams>
  /** Aborts when the caller disconnects before the answer is sent. */
  signal: AbortSignal
}

export type RouteDeclaration<Path extends string, Query, Body> = {
  method: Method
  /** Segments beginning with `:` are parameters. `{.+}` behind the last one lets it hold slashes. */
  path: Path
  callers: readonly CallerKind[]
  /** The part of a claim that the route opens, when claims are among the callers. */
  claim?: ClaimScope
  /** The route's heading in docs/interface.md, without its number. */
  section: string
  summary: string
  /** Further sentences for the published description. */
  description?: string
  query?: z.ZodType<Query>
  /** True when an unknown or an empty query parameter is refused. Other routes ignore both. */
  isQueryChecked?: boolean
  body?: z.ZodType<Body>
  /** Limits of the JSON body. Default: `plainBody`. */
  limits?: BodyLimits
  /** The class for rate limits. Default: GET counts as a read, other methods as a write. */
  counted?: RequestClass | 'never'
  /** True when a caller that may only read may make this request, although it is no GET. */
  changesNothing?: boolean
  /** The change that a role with this operation may make here. The handler refuses what of the body goes beyond it. */
  operation?: RoleOperation
  /** Returns true when a request with this body is not counted. The body is then parsed before the count. */
  isUncounted?(body: Body): boolean
  /** For a route with two kinds of answers: returns true when the answer to this body is a stream. */
  isStream?(body: Body): boolean
  /** Schema of a multipart form, which `run` reads itself. */
  form?: z.ZodType
  /** The form as a JSON body, when a caller may send JSON in its place. */
  formAsJson?: z.ZodType
  /** A body that is neither a JSON body nor a form of ours: `run` reads it itself. */
  bytes?: BytesBody
  /**
   * The form of a successful answer. `stream`: text/event-stream. `none`: no body. `bytes`: bytes of any type. `any`:
   * the answer of another server, to which the request is passed on.
   */
  answer: AnswerForm
  /** Media types of an answer of `bytes`. Default: `application/octet-stream`. */
  mediaTypes?: readonly string[]
  status?: number
  /** Answers in other forms, or with other statuses. Errors are not among them. */
  further?: readonly FurtherAnswer[]
  /** The request is signed in place of a key, as Standard Webhooks has it. */
  isSigned?: boolean
  /** The official interface has no such operation. Nothing below `/v1/ext/` has to say so. */
  isExtension?: boolean
  /** True for a page for people, or a part of a page. The published description leaves it out. */
  isPage?: boolean
  /** The operation of which this route is another spelling. `routeAlias` sets this field. */
  aliasOf?: { method: Method; path: string }
}

type AnswerForm = z.ZodType | 'stream' | 'none' | 'bytes' | 'any'

/** `description` says for which requests the answer is. */
export type FurtherAnswer = {
  status: number
  answer: AnswerForm
  mediaTypes?: readonly string[]
  description: string
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** For the published description: the media type of a body, and a sentence about its content. */
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

/** Declares a route that reads the unparsed request itself. Bodies stream both ways. */
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

/** Declares another spelling of an operation. The published description names the operation. */
export const routeAlias = (
  declared: Route,
  change: Pick<Partial<Route>, 'method' | 'path'>,
): Route => ({
  ...declared,
  ...change,
  aliasOf: { method: declared.method, path: declared.path },
  isExtension: true,
})
