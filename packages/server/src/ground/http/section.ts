/** Routes below one path and one heading of docs/interface.md. Each declares only what differs. */
import { Deleted, ListOf } from '@steward/protocol/primitives.ts'
import type { z } from 'zod'
import type { ListedRow, Listing, PageQuery, Paging } from '../core/text/page.ts'
import { buildPage, readPaging } from '../core/text/page.ts'
import type { ClaimScope } from './principal.ts'
import type { CallerKind } from './permissions.ts'
import type { RouteReply } from './reply.ts'
import type { RouteDeclaration, RawRequest, Route, RouteCall } from './route.ts'
import { routeAlias, rawRoute, route } from './route.ts'

/** The declaration of one route. Default for `callers`: those of the section. */
type RouteDetails<Query, Body> = Omit<
  RouteDeclaration<string, Query, Body>,
  'method' | 'path' | 'callers' | 'section'
> & { callers?: readonly CallerKind[] }
type RawRouteDetails = Omit<
  RouteDetails<undefined, undefined>,
  'query' | 'body' | 'status' | 'answer'
> &
  Pick<Partial<RouteDetails<undefined, undefined>>, 'answer'>
type RouteHandler<Path extends string, Query, Body, Answer = object | RouteReply> = (
  call: RouteCall<Path, Query, Body>,
) => Promise<Answer>

/** `answer` is one item of the list. */
type ListDetails<Query> = Omit<RouteDetails<Query, undefined>, 'answer' | 'query'> & {
  query: z.ZodType<Query>
  answer: z.ZodType
}
type ListOfRows<Path extends string, Query, Row extends ListedRow> = {
  /** Names the list in its cursors, so that other lists refuse them. */
  scope: string | ((params: RouteCall<Path, Query, undefined>['params']) => string)
  /** Throws for a call without a list, before the cursor is read. */
  check?: RouteHandler<Path, Query, undefined, unknown>
  rows: (call: RouteCall<Path, Query, undefined>, page: Paging) => Promise<Listing<Row>>
  /** Maps a row to an item of the answer. Default: the row itself. */
  show?: (row: Row, call: RouteCall<Path, Query, undefined>) => unknown
}

/** A verb of a resource. Defaults for answer and summary come from the resource. */
type ResourceVerb<Path extends string, Query, Body, Answer = object | RouteReply> = Omit<
  RouteDetails<Query, Body>,
  'answer' | 'summary'
> &
  Partial<Pick<RouteDetails<Query, Body>, 'answer' | 'summary'>> & {
    run: RouteHandler<Path, Query, Body, Answer>
  }

type ResourceNoun<Item extends string> = {
  /** The noun with its article, for summaries. */
  one: string
  many: string
  /** The path of one item, below the path of the list. */
  item: Item
  answer: z.ZodType
}

type PlainVerbs<
  All extends string,
  One extends string,
  Create,
  Query extends PageQuery,
  Row extends ListedRow,
  Get,
  Update,
> = {
  create?: ResourceVerb<All, undefined, Create>
  list?: Omit<ListDetails<Query>, 'answer' | 'summary'> & { summary?: string } & ListOfRows<
      All,
      Query,
      Row
    >
  get?: ResourceVerb<One, Get, undefined>
  /** POST and the methods of `also`. Default: PATCH. */
  update?: ResourceVerb<One, undefined, Update> & { also?: readonly ('patch' | 'put')[] }
  /** POST, and the methods of `also` on the resource itself. */
  archive?: ResourceVerb<One, undefined, undefined> & { also?: readonly 'delete'[] }
  /** `type` is that of the answer. */
  delete?: ResourceVerb<One, undefined, undefined, unknown> & { type: string }
}

function sectionRoutes<const Base extends string>(
  heading: string,
  callers: readonly CallerKind[],
  base: Base,
  claim?: ClaimScope,
) {
  type PathBelow<Path extends string> = `${Base}${Path}`
  const shared = { callers, section: heading, ...(claim && { claim }) }
  const at = <Path extends string>(path: Path): PathBelow<Path> => `${base}${path}`

  const by =
    (method: Route['method']) =>
    <const Path extends string, Query = undefined, Body = undefined>(
      path: Path,
      details: RouteDetails<Query, Body>,
      run: RouteHandler<PathBelow<Path>, Query, Body>,
    ): Route =>
      route({ ...shared, ...details, method, path: at(path) }, run)

  const rawBy =
    (method: Route['method']) =>
    <const Path extends string>(
      path: Path,
      details: RawRouteDetails,
      run: (
        call: RouteCall<PathBelow<Path>, undefined, undefined>,
        raw: RawRequest,
      ) => Promise<object | RouteReply>,
    ): Route =>
      rawRoute({ ...shared, ...details, method, path: at(path) }, run)

  function list<const Path extends string, Query extends PageQuery, Row extends ListedRow>(
    path: Path,
    details: ListDetails<Query>,
    { scope, check, rows, show = (row) => row }: ListOfRows<PathBelow<Path>, Query, Row>,
  ): Route {
    const answer = ListOf(details.answer)
    return by('get')<Path, Query>(path, { ...details, answer }, async (call) => {
      await check?.(call)
      const name = typeof scope === 'string' ? scope : scope(call.params)
      const page = readPaging(name, call.query)
      return buildPage(name, page, await rows(call, page), (row) => show(row, call))
    })
  }

  const made = {
    get: by('get'),
    post: by('post'),
    delete: by('delete'),
    list,
    /** Routes whose `run` reads the request itself. Bodies stream both ways. */
    raw: { get: rawBy('get'), post: rawBy('post') },
    /** DELETE. Answers with the id of the deleted object, the last parameter of the path. */
    remove: <const Path extends string, Query = undefined>(
      path: Path,
      { type, ...details }: Omit<RouteDetails<Query, undefined>, 'answer'> & { type: string },
      run: RouteHandler<PathBelow<Path>, Query, undefined, unknown>,
    ): Route => {
      const name = path.slice(path.lastIndexOf(':') + 1)
      return made.delete(path, { ...details, answer: Deleted(type) }, async (call) => {
        await run(call)
        const params: Record<string, string> = call.params
        return { id: params[name], type }
      })
    },
  }
  return made
}

type SectionRoutes<Base extends string> = ReturnType<typeof sectionRoutes<Base>>

function plainVerbs<Base extends string>({ post, get, list, remove }: SectionRoutes<Base>) {
  /** The usual routes of a resource: create, list, get, update, archive, delete, as far as given. */
  return function plain<
    const Item extends string,
    Create = undefined,
    Query extends PageQuery = PageQuery,
    Row extends ListedRow = ListedRow,
    Get = undefined,
    Update = undefined,
  >(
    { one: noun, many, item, answer }: ResourceNoun<Item>,
    verbs: PlainVerbs<`${Base}`, `${Base}${Item}`, Create, Query, Row, Get, Update>,
  ): Route[] {
    const { create, list: all, get: one, update, archive, delete: removal } = verbs
    const routes: Route[] = []
    if (create) {
      const { run, ...own } = create
      routes.push(post('', { summary: `Create ${noun}`, answer, ...own }, run))
    }
    if (all) {
      const { scope, check, rows, show, ...own } = all
      const read = { scope, rows, ...(check && { check }), ...(show && { show }) }
      routes.push(list('', { summary: `List ${many}`, answer, ...own }, read))
    }
    if (one) {
      const { run, ...own } = one
      routes.push(get(item, { summary: `Get ${noun}`, answer, ...own }, run))
    }
    if (update) {
      const { run, also: methods = ['patch'], ...own } = update
      const posted = post(item, { summary: `Update ${noun}`, answer, ...own }, run)
      routes.push(posted, ...methods.map((method) => routeAlias(posted, { method })))
    }
    if (archive) {
      const { run, also: methods = [], ...own } = archive
      const { path, ...posted } = post(item, { summary: `Archive ${noun}`, answer, ...own }, run)
      const archiving = { ...posted, path: `${path}/archive` }
      routes.push(archiving, ...methods.map((method) => routeAlias(archiving, { method, path })))
    }
    if (removal) {
      const { run, ...own } = removal
      routes.push(remove(item, { summary: `Delete ${noun}`, ...own }, run))
    }
    return routes
  }
}

/** `claim`: the part of a claim that the routes open, when claims are among the callers. */
export function section<const Base extends string>(
  heading: string,
  callers: readonly CallerKind[],
  base: Base,
  claim?: ClaimScope,
) {
  const declare = sectionRoutes(heading, callers, base, claim)
  return { ...declare, plain: plainVerbs(declare) }
}
