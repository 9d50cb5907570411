/**
 * Checks answers of `/openai/v1` against the types of both `openai` clients, in which no other property is allowed: a
 * `fetch` that fails when an answer, an item or an event does not match.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ErrorObject } from 'ajv'
import { Ajv } from 'ajv'
import type { OpenAISchemas } from '../scripts/openai-schemas.ts'

const root = join(import.meta.dirname, '..')
const script = join(root, 'scripts/openai-schemas.ts')

const clients = ['openai', 'openai-older'] as const
type OpenAIClient = (typeof clients)[number]

/** The schemas stay beside the packages for the next run, until the version of a package changes. */
function fileOf(client: OpenAIClient): string {
  const manifest = readFileSync(join(root, 'node_modules', client, 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  return join(root, 'node_modules/.cache/steward', `openai-${version}.json`)
}

/** Writes the missing schemas before the test processes start, so that no two processes write them at the same time. */
export async function writeOpenAISchemas(): Promise<void> {
  const missing = clients.filter((client) => !existsSync(fileOf(client)))
  await Promise.all(
    missing.map((client) =>
      promisify(execFile)(process.execPath, [script, client, fileOf(client)]),
    ),
  )
}

type AnswerSchema = {
  $ref?: string
  anyOf?: AnswerSchema[]
  properties?: Record<string, { const?: unknown; enum?: unknown[] }>
}
type Told = { object?: unknown; type?: unknown }

function loadSchemas(client: OpenAIClient) {
  const file = fileOf(client)
  if (!existsSync(file)) execFileSync(process.execPath, [script, client, file])
  const schemas = JSON.parse(readFileSync(file, 'utf8')) as OpenAISchemas
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
  if (kind.includes('event-stream')) return rebuilt(response, eventChecker(checker))
  return kind.includes('json') ? rebuilt(response, bodyChecker(checker)) : response
}

type BodyChecker = TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>

const rebuilt = (response: Response, checking: BodyChecker): Response => {
  const { status, statusText, headers } = response
  return new Response(response.body?.pipeThrough(checking) ?? null, { status, statusText, headers })
}

function bodyChecker(check: (value: unknown) => void): BodyChecker {
  const pieces: Uint8Array[] = []
  return new TransformStream({
    transform(piece, controller) {
      pieces.push(piece)
      controller.enqueue(piece)
    },
    flush() {
      const text = Buffer.concat(pieces).toString()
      const body = (text === '' ? {} : JSON.parse(text)) as { data?: unknown[] }
      for (const each of Array.isArray(body.data) ? body.data : [body]) check(each)
    },
  })
}

function eventChecker(check: (value: unknown) => void): BodyChecker {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(piece, controller) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) check(JSON.parse(line.slice(6)))
      controller.enqueue(piece)
    },
  })
}
