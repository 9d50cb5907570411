/** The routes below one path, under one heading of docs/interface.md: each says only what it has of its own. */
import { Deleted, ListOf } from '@steward/protocol/primitives.ts'
import type { z } from 'zod'
import type { Listed, Listing, PageQuery, Paging } from '../core/page.ts'
import { pageOf, paging } from '../core/page.ts'
import type { Caller, ClaimScope } from './principal.ts'
import type { Reply } from './reply.ts'
import type { Declared, Raw, Route, RouteCall } from './route.ts'
import { also, rawRoute, route } from './route.ts'

/** What a route says of its own; its callers are those of the section unless it names others. */
type Details<Query, Body> = Omit<
  Declared<string, Query, Body>,
  'method' | 'path' | 'callers' | 'section'
> & { callers?: readonly Caller[] }
type RawDetails = Omit<Details<undefined, undefined>, 'query' | 'body' | 'status' | 'answer'> &
  Pick<Partial<Details<undefined, undefined>>, 'answer'>
type Run<Path extends string, Query, Body, Answer = object | Reply> = (
  call: RouteCall<Path, Query, Body>,
) => Promise<Answer>

/** `answer` is one item of the list. */
type ListDetails<Query> = Omit<Details<Query, undefined>, 'answer' | 'query'> & {
  query: z.ZodType<Query>
  answer: z.ZodType
}
type ListOfRows<Path extends string, Query, Row extends Listed> = {
  /** Names the list in its cursors, so that no other list takes one of them. */
  scope: string | ((params: RouteCall<Path, Query, undefined>['params']) => string)
  /** Throws for a call that gets no list, before its cursor is read. */
  check?: Run<Path, Query, undefined, unknown>
  rows: (call: RouteCall<Path, Query, undefined>, page: Paging) => Promise<Listing<Row>>
  /** A row as the answer has it; left out, as it is. */
  show?: (row: Row, call: RouteCall<Path, Query, undefined>) => unknown
}

/** A verb of a resource: its answer and its summary are the resource's unless it has its own. */
type Verb<Path extends string, Query, Body, Answer = object | Reply> = Omit<
  Details<Query, Body>,
  'answer' | 'summary'
> &
  Partial<Pick<Details<Query, Body>, 'answer' | 'summary'>> & {
    run: Run<Path, Query, Body, Answer>
  }

type ResourceNoun<Item extends string> = {
  /** With its article, for summaries. */
  one: string
  many: string
  /** The path of one, below that of all. */
  item: Item
  answer: z.ZodType
}

type PlainVerbs<
  All extends string,
  One extends string,
  Create,
  Query extends PageQuery,
  Row extends Listed,
  Get,
  Update,
> = {
  create?: Verb<All, undefined, Create>
  list?: Omit<ListDetails<Query>, 'answer' | 'summary'> & { summary?: string } & ListOfRows<
      All,
      Query,
      Row
    >
  get?: Verb<One, Get, undefined>
  /** POST, and the methods of `also`: PATCH unless it says others. */
  update?: Verb<One, undefined, Update> & { also?: readonly ('patch' | 'put')[] }
  archive?: Verb<One, undefined, undefined>
  /** `type` is that of the answer. */
  delete?: Verb<One, undefined, undefined, unknown> & { type: string }
}

function declaring<const Base extends string>(
  heading: string,
  callers: readonly Caller[],
  base: Base,
  claim?: ClaimScope,
) {
  type Below<Path extends string> = `${Base}${Path}`
  const shared = { callers, section: heading, ...(claim && { claim }) }
  const at = <Path extends string>(path: Path): Below<Path> => `${base}${path}`

  const by =
    (method: Route['method']) =>
    <const Path extends string, Query = undefined, Body = undefined>(
      path: Path,
      details: Details<Query, Body>,
      run: Run<Below<Path>, Query, Body>,
    ): Route =>
      route({ ...shared, ...details, method, path: at(path) }, run)

  const rawBy =
    (method: Route['method']) =>
    <const Path extends string>(
      path: Path,
      details: RawDetails,
      run: (
        call: RouteCall<Below<Path>, undefined, undefined>,
        raw: Raw,
      ) => Promise<object | Reply>,
    ): Route =>
      rawRoute({ ...shared, ...details, method, path: at(path) }, run)

  function list<const Path extends string, Query extends PageQuery, Row extends Listed>(
    path: Path,
    details: ListDetails<Query>,
    { scope, check, rows, show = (row) => row }: ListOfRows<Below<Path>, Query, Row>,
  ): Route {
    const answer = ListOf(details.answer)
    return by('get')<Path, Query>(path, { ...details, answer }, async (call) => {
      await check?.(call)
      const name = typeof scope === 'string' ? scope : scope(call.params)
      const page = paging(name, call.query)
      return pageOf(name, page, await rows(call, page), (row) => show(row, call))
    })
  }

  const made = {
    get: by('get'),
    post: by('post'),
    delete: by('delete'),
    list,
    /** Their request is read by `run` itself, and bodies stream both ways. */
    raw: { get: rawBy('get'), post: rawBy('post') },
    /** Answers what was deleted: the last parameter of the path. */
    remove: <const Path extends string, Query = undefined>(
      path: Path,
      { type, ...details }: Omit<Details<Query, undefined>, 'answer'> & { type: string },
      run: Run<Below<Path>, Query, undefined, unknown>,
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

type Declaring<Base extends string> = ReturnType<typeof declaring<Base>>

function plainVerbs<Base extends string>({ post, get, list, remove }: Declaring<Base>) {
  /** The plain verbs of a resource that the section's path lists, as far as it has them. */
  return function plain<
    const Item extends string,
    Create = undefined,
    Query extends PageQuery = PageQuery,
    Row extends Listed = Listed,
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
      routes.push(posted, ...methods.map((method) => also(posted, { method })))
    }
    if (archive) {
      const { run, ...own } = archive
      const posted = post(item, { summary: `Archive ${noun}`, answer, ...own }, run)
      routes.push(also(posted, { path: `${posted.path}/archive` }))
    }
    if (removal) {
      const { run, ...own } = removal
      routes.push(remove(item, { summary: `Delete ${noun}`, ...own }, run))
    }
    return routes
  }
}

/** `claim` is what of a claim the routes open, where claims are among the callers. */
export function section<const Base extends string>(
  heading: string,
  callers: readonly Caller[],
  base: Base,
  claim?: ClaimScope,
) {
  const declare = declaring(heading, callers, base, claim)
  return { ...declare, plain: plainVerbs(declare) }
}
