/**
 * Checks answers against the types of an official client: a `fetch` for the client that fails when an answer or an
 * event does not match the schema that scripts/client-schemas.ts generates from those types.
 */
import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import type { ClientAnswer, ClientSchemas } from '../scripts/client-schemas.ts'
import { checkedBody, streamChecker, typeSchemas, wholeChecker } from './type-schemas.ts'

const clients = ['@anthropic-ai/sdk', '@anthropic-ai/sdk-oldest'] as const
type CheckedClient = (typeof clients)[number]
type AnswerSchema = {
  $ref?: string
  anyOf?: AnswerSchema[]
  properties?: Record<string, { const?: unknown; enum?: unknown[] }>
}

const schemas = typeSchemas<ClientSchemas>(clients, {
  script: 'client-schemas.ts',
  prefix: 'client',
})
export const writeClientSchemas = () => schemas.writeMissing()

const isOfPath = (pattern: string, path: string): boolean => {
  const [parts, segments] = [pattern.split('/'), path.split('/')]
  return (
    parts.length === segments.length &&
    parts.every((part, index) => part === '*' || part === segments[index])
  )
}

/** Number of literal words in the path. More words match first, so that `work/poll` is not taken for a work item. */
const wordsOf = ({ path }: ClientAnswer): number =>
  path.split('/').filter((part) => part !== '*').length

function loadAnswers(client: CheckedClient) {
  const { answers, definitions } = schemas.read(client)
  const ajv = new Ajv({
    ...{ strict: false, allErrors: true, verbose: true },
    // An invalid definition fails to compile. Checking all of them first takes 50 ms in each test file.
    validateSchema: false,
    // Optimizing a validator takes longer than all its calls.
    code: { optimize: false },
    // A definition is compiled once, not once for each reference.
    inlineRefs: false,
  })
  const mayBeNewer = client === '@anthropic-ai/sdk-oldest'
  const validators = new Map<object, ValidateFunction>()
  // One root holds all definitions, so that each is compiled once for all answers.
  ajv.addSchema({ $id: client, definitions })
  const names = new Map(Object.entries(definitions).map(([name, schema]) => [schema, name]))
  const named = (ref: string): AnswerSchema =>
    definitions[decodeURIComponent(ref.replace('#/definitions/', ''))] ?? {}

  /** Returns the member of a union with the value's `type`; undefined when there is none. */
  function narrowed(schema: AnswerSchema, type: unknown): AnswerSchema | undefined {
    if (schema.$ref !== undefined) return narrowed(named(schema.$ref), type)
    if (!schema.anyOf || typeof type !== 'string') return schema
    const members = schema.anyOf.map((member) => narrowed(member, type))
    return members.find((member) => {
      const word = member?.properties?.['type']
      return word?.const === type || word?.enum?.includes(type)
    })
  }

  function validatorOf(schema: AnswerSchema): ValidateFunction {
    const found = validators.get(schema) ?? ajv.compile(refTo(schema))
    validators.set(schema, found)
    return found
  }

  function refTo(schema: AnswerSchema): object {
    const name = names.get(schema)
    if (name === undefined) return { ...schema, definitions }
    return { $ref: `${client}#/definitions/${encodeURIComponent(name)}` }
  }

  return {
    of: (verb: string, path: string, isBeta: boolean): ClientAnswer | undefined =>
      answers
        .filter((each) => each.verb === verb && isOfPath(each.path, path))
        .toSorted(
          (a, b) =>
            wordsOf(b) - wordsOf(a) || Number(b.isBeta === isBeta) - Number(a.isBeta === isBeta),
        )[0],

    /**
     * Returns the problem of one value, or undefined. An older client accepts an unknown `type` and a null that its
     * types lack. A request for extensions accepts an unknown `type`.
     */
    problem(answer: ClientAnswer, value: unknown, isExtended: boolean): string | undefined {
      const { type } = (value ?? {}) as { type?: unknown }
      const schema = narrowed(named(answer.definition), type)
      if (!schema)
        return mayBeNewer || isExtended ? undefined : `type ${String(type)} is in no union`
      if (hasStdioServer(value)) return undefined
      const validate = validatorOf(schema)
      if (validate(value)) return undefined
      const errors = validate.errors ?? []
      const isNewer = ({ instancePath, data }: ErrorObject) =>
        data === null || instancePath.endsWith('/type')
      if (mayBeNewer && errors.some(isNewer)) return undefined
      const words = errors.map((each) => `${each.instancePath} ${each.message}`)
      return `${words.slice(0, 5).join('; ')} in ${JSON.stringify(value).slice(0, 2000)}`
    },
  }
}

type ServersHolder = { mcp_servers?: { type: string }[]; agent?: ServersHolder }

/**
 * True when the value has an MCP server of type stdio. Such a server is an extension and appears only when the agent
 * has one.
 */
function hasStdioServer(value: unknown): boolean {
  const { mcp_servers = [], agent } = (value ?? {}) as ServersHolder
  return mcp_servers.some(({ type }) => type === 'stdio') || (agent ? hasStdioServer(agent) : false)
}

/** True when the request names types or uses `include`: its answer may contain extensions. */
const asksForMore = (url: URL): boolean =>
  [...url.searchParams.keys()].some((key) => key.startsWith('types') || key.startsWith('include'))

/** A `fetch` whose bodies fail when they do not match the client's types. */
export function checkedFetch(client: CheckedClient): typeof fetch {
  const answers = loadAnswers(client)
  return async (input, init) => {
    const response = await fetch(input, init)
    const url = new URL(input instanceof Request ? input.url : input)
    const verb = (init?.method ?? 'get').toLowerCase()
    const isBeta = url.searchParams.get('beta') === 'true'
    const answer = answers.of(verb, url.pathname, isBeta)
    const isJson = /json|event-stream/.test(response.headers.get('content-type') ?? '')
    if (!answer || !response.ok || !response.body || !isJson) return response
    const isExtended = asksForMore(url)
    const check = (value: unknown) => {
      const why = answers.problem(answer, value, isExtended)
      if (why)
        throw new Error(`${verb} ${url.pathname} does not fit the types of ${client}: ${why}`)
    }
    const checker = answer.kind === 'stream' ? streamChecker(check) : bodyChecker(answer, check)
    return checkedBody(response, checker)
  }
}

type AnswerCheck = (value: unknown) => void

/** Checks a body at its end: the whole value, or each item of a page. */
const bodyChecker = ({ kind }: ClientAnswer, check: AnswerCheck) =>
  wholeChecker((text) => {
    const body: unknown = JSON.parse(text || 'null')
    if (kind === 'one') return check(body)
    for (const item of (body as { data: unknown[] }).data) check(item)
  })
