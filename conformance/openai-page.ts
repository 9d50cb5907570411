/** Generates the operations in docs/openai.md, with what each leaves out, from the schemas of their bodies. */
import { restrictions } from '@steward/protocol/openai/lists.ts'
import type { Restriction } from '@steward/protocol/openai/lists.ts'
import type { Route } from '@steward/server/ground/http/route.ts'
import type { z } from 'zod'

const begin = '<!-- operations: written by scripts/openai-page.ts -->'
const end = '<!-- operations: end -->'

/** What a schema does not tell: of answers and streams, and of archives in place of deletions. */
const notes: Record<string, string> = {
  'DELETE /agents/:id': 'the agent is archived on `/v1`',
  'GET /agents/sessions/:id/events':
    'no summaries of reasoning, and of the events of environments `pending`, `ready`, `failed` and `reset` alone; items of subagents come whole',
  'GET /agents/sessions/:id/turns/:turn_id/items': '`exit_code` and `cwd` of commands are null',
  'GET /agents/sessions/:id/items': '`exit_code` and `cwd` of commands are null',
  'GET /agents/sessions/:id/subagents/:subagent_id/turns/:turn_id/items':
    '`exit_code` and `cwd` of commands are null',
  'GET /agents/sessions/:id/subagents/:subagent_id/items':
    '`exit_code` and `cwd` of commands are null',
  'GET /agents/environments/:id': 'its status is `ready` or `expired`',
  'GET /agents/environments/:id/files':
    'files that were put there, not those that commands have written',
  'DELETE /agents/environments/templates/:id': 'the environment is archived on `/v1`',
  'DELETE /agents/automations/:id': 'the deployment is archived on `/v1`',
  'POST /agents/automations/:id/invocations': 'an invocation is `completed` or `failed` at once',
}

type FoundRestriction = Restriction & { path: string }
type SchemaDef = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
  options?: z.ZodType[]
  in?: z.ZodType
  out?: z.ZodType
}

/** The restrictions of all fields below a schema, with the paths of the fields. */
export function restrictionsIn(schema: z.ZodType, path = ''): FoundRestriction[] {
  const own = restrictions.get(schema)
  const { shape = {}, element, innerType, options = [], in: given, out } = schema.def as SchemaDef
  const below = [
    ...Object.entries(shape).flatMap(([name, field]) =>
      restrictionsIn(field, path === '' ? name : `${path}.${name}`),
    ),
    ...(element ? restrictionsIn(element, `${path}[]`) : []),
    ...[innerType, given, out, ...options].flatMap((each) =>
      each ? restrictionsIn(each, path) : [],
    ),
  ]
  return own ? [{ ...own, path }, ...below] : below
}

const lineOf = ({ path, only }: FoundRestriction): string =>
  only === undefined ? `\`${path}\`` : `\`${path}\` (${only})`

function listOf(found: readonly FoundRestriction[], kind: Restriction['kind']): string {
  const lines = found.filter((each) => each.kind === kind).map(lineOf)
  return [...new Set(lines)].join(', ')
}

function servedAs(operation: string, body: z.ZodType | undefined): string {
  const found = body ? restrictionsIn(body) : []
  const [refused, unmet] = [listOf(found, 'refused'), listOf(found, 'unmet')]
  const parts = [
    refused && `Refused: ${refused}`,
    unmet && `Taken, and changes nothing: ${unmet}`,
    notes[operation],
  ].filter((part) => part)
  return parts.length === 0 ? 'whole' : parts.join('. ')
}

/** The rows of the table. A note about an operation that does not exist is an error. */
function rowsOf(routes: readonly Route[]): string[] {
  const unused = new Set(Object.keys(notes))
  const rows = routes.flatMap(({ method, path, body }) => {
    const [, below] = /^\/openai\/v1(\/(?:agents|vaults).*)$/.exec(path) ?? []
    if (below === undefined) return []
    const operation = `${method.toUpperCase()} ${below}`
    unused.delete(operation)
    return `| \`${operation}\` | ${servedAs(operation, body)} |`
  })
  if (unused.size > 0) throw new Error(`no operation: ${[...unused].join(', ')}`)
  return rows
}

/** Returns the page with new rows between its two markers. */
export function withOperations(page: string, routes: readonly Route[]): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page needs ${begin} and, below it, ${end}`)
  const table = ['| operation | leaves out |', '|---|---|', ...rowsOf(routes)].join('\n')
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`
}
