/**
 * Checks answers of `/openai/v1` against the types of both `openai` clients, in which no other property is allowed: a
 * `fetch` that fails when an answer, an item or an event does not match.
 */
import type { ErrorObject } from 'ajv'
import { Ajv } from 'ajv'
import type { OpenAISchemas } from '../scripts/openai-schemas.ts'
import { checkedBody, streamChecker, typeSchemas, wholeChecker } from './type-schemas.ts'

const clients = ['openai', 'openai-older'] as const
type OpenAIClient = (typeof clients)[number]

const schemaFiles = typeSchemas<OpenAISchemas>(clients, {
  script: 'openai-schemas.ts',
  prefix: 'openai',
})
export const writeOpenAISchemas = () => schemaFiles.writeMissing()

type AnswerSchema = {
  $ref?: string
  anyOf?: AnswerSchema[]
  properties?: Record<string, { const?: unknown; enum?: unknown[] }>
}
type Told = { object?: unknown; type?: unknown }

function loadSchemas(client: OpenAIClient) {
  const schemas = schemaFiles.read(client)
  const { definitions, objects } = schemas
  const ajv = new Ajv({
    ...{ strict: false, allErrors: true, verbose: true },
    validateSchema: false,
    code: { optimize: false },
    inlineRefs: false,
  })
  ajv.addSchema({ $id: client, definitions })
  const refOf = (name: string): string => `${client}#/definitions/${encodeURIComponent(name)}`
  const nameOf = ($ref: string): string => decodeURIComponent($ref.replace('#/definitions/', ''))

  /** The names of the members of a union whose `type` is this one. */
  function membersOf(name: string, type: unknown): string[] {
    const { $ref, anyOf, properties } = (definitions[name] ?? {}) as AnswerSchema
    if ($ref !== undefined) return membersOf(nameOf($ref), type)
    if (anyOf)
      return anyOf.flatMap((each) =>
        each.$ref === undefined ? [] : membersOf(nameOf(each.$ref), type),
      )
    const word = properties?.['type']
    return word?.const === type || word?.enum?.includes(type) ? [name] : []
  }

  function namesOf({ object, type }: Told): string[] {
    if (typeof object === 'string') return objects[object] ?? []
    const items = membersOf(schemas.item, type)
    return items.length > 0 ? items : membersOf(schemas.event, type)
  }

  /** What differs from the client's types, by the type that fits best; none for a thing that the client lacks. */
  return (value: Told): ErrorObject[] => {
    const tried = namesOf(value).map((name) => {
      const validate = ajv.getSchema(refOf(name))
      return validate?.(value) ? [] : (validate?.errors ?? [])
    })
    return tried.toSorted((a, b) => a.length - b.length)[0] ?? []
  }
}

/** True where a newer field, word or null is what an older client does not know. The newest one has checked it. */
const isNewer = ({ keyword, data }: ErrorObject): boolean =>
  ['additionalProperties', 'enum', 'const'].includes(keyword) || data === null

/** Checks one thing of that wire by the types of both clients. Throws what differs. */
function checkerOf(): (value: unknown) => void {
  const [newest, older] = [loadSchemas('openai'), loadSchemas('openai-older')]
  return (value) => {
    const told = (value ?? {}) as Told
    const problems = newest(told)
    const before = older(told)
    const left = problems.length > 0 || before.some(isNewer) ? problems : before
    if (left.length === 0) return
    const words = left.map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    )
    throw new Error(
      `an answer does not fit the types of the openai client: ${words.slice(0, 5).join('; ')} in ${JSON.stringify(value).slice(0, 2000)}`,
    )
  }
}

let checker: ReturnType<typeof checkerOf> | undefined

/** A `fetch` whose bodies fail when they do not match the types of the clients. */
export const checkedOpenAIFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const { pathname } = new URL(input instanceof Request ? input.url : input)
  const kind = response.headers.get('content-type') ?? ''
  if (!response.ok || !response.body || !/^\/openai\/v1\/(agents|vaults)/.test(pathname))
    return response
  checker ??= checkerOf()
  if (kind.includes('event-stream')) return checkedBody(response, streamChecker(checker))
  return kind.includes('json') ? checkedBody(response, bodyChecker(checker)) : response
}

const bodyChecker = (check: (value: unknown) => void) =>
  wholeChecker((text) => {
    const body = (text === '' ? {} : JSON.parse(text)) as { data?: unknown[] }
    for (const each of Array.isArray(body.data) ? body.data : [body]) check(each)
  })
