/** The published description, made from the declared routes. OpenAPI 3.1 takes JSON Schema as it is. */
import { ErrorResponse } from '@steward/protocol/errors.ts'
import { LiveEventShown } from '@steward/protocol/shown-events.ts'
import { z } from 'zod'
import { describeErrors } from './errors.ts'
import type { SchemaNode } from './openapi-schemas.ts'
import { describeSchemas } from './openapi-schemas.ts'
import { security, securitySchemes } from './openapi-security.ts'
import { tagsOf } from './openapi-tags.ts'
import { requestClassOf } from './rate-limits.ts'
import { credentialsOf } from './refusal.ts'
import type { Route } from './route.ts'

type Schemas = Pick<ReturnType<typeof describeSchemas>, 'schemaOf'>

/** What no client of the official interface knows. */
const isExtension = ({ path }: Route): boolean => path.startsWith('/v1/ext/')
const extensionSentence = 'An extension of Steward: the official interface does not have it.'

export function openApi(routes: readonly Route[], version: string): SchemaNode {
  const { schemaOf, components } = describeSchemas({
    input: routes.flatMap(({ query, body, form }) => [query, body, form].filter(isSchema)),
    output: [ErrorResponse, LiveEventShown, ...routes.map(({ answer }) => answer).filter(isSchema)],
  })
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const item = (paths[path] ??= {})
    item[route.method] = operation(route, { schemaOf })
  }
  const parameters = shareParameters(Object.values(paths).flatMap((item) => Object.values(item)))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Steward',
      version,
      summary: 'A self-hosted, multi-tenant service for running AI agents.',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(routes),
    paths,
    components: {
      securitySchemes,
      parameters,
      responses: {
        Error: {
          description: describeErrors(),
          headers: {
            'request-id': {
              description: 'Names the request in the log of the server.',
              schema: { type: 'string' },
            },
          },
          content: json(schemaOf(ErrorResponse, 'output')),
        },
      },
      schemas: components,
    },
  }
}

const introduction = [
  'Every path below `/v1/ext/`, and every field marked `x-extension`, is an extension of Steward.',
  'All else follows the official interface, so that the official client works unmodified.',
  'A request with the header `anthropic-version` is answered in the words of that client.',
].join('\n')

const isSchema = (value: Route['answer'] | undefined): value is z.ZodType =>
  value instanceof z.ZodType

const json = (schema: SchemaNode) => ({ 'application/json': { schema } })

type OpenApiOperation = SchemaNode & { parameters: SchemaNode[] }

/** Moves each query parameter that several operations have into the components, by its name where that is free. */
function shareParameters(operations: readonly OpenApiOperation[]): Record<string, SchemaNode> {
  const all = operations.flatMap(({ parameters }) => parameters)
  const uses = new Map<string, { parameter: (typeof all)[number]; count: number }>()
  for (const parameter of all) {
    const text = JSON.stringify(parameter)
    uses.set(text, { parameter, count: (uses.get(text)?.count ?? 0) + 1 })
  }
  const shared: Record<string, SchemaNode> = {}
  const names = new Map<string, string>()
  const byUse = [...uses].toSorted(([, one], [, other]) => other.count - one.count)
  for (const [text, { parameter, count }] of byUse) {
    const name = componentName(String(parameter['name']))
    if (count < 2 || parameter.in !== 'query' || Object.hasOwn(shared, name)) continue
    shared[name] = parameter
    names.set(text, name)
  }
  for (const operation of operations) {
    operation.parameters = operation.parameters.map((parameter) => {
      const name = names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    })
  }
  return shared
}

/** `created_at[gte]` is `CreatedAtGte`. */
const componentName = (name: string): string =>
  name
    .split(/\W+|_/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

function operation(route: Route, { schemaOf }: Schemas): OpenApiOperation {
  return {
    operationId: `${route.method}${route.path.replace(/[/:_]+(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, '')}`,
    summary: route.summary,
    description: [
      route.description,
      `Needs ${credentialsOf(route)}.`,
      countedAs(route),
      isExtension(route) ? extensionSentence : undefined,
    ]
      .filter(Boolean)
      .join(' '),
    tags: [route.section],
    ...(isExtension(route) ? { 'x-extension': true } : {}),
    security: security(route.callers),
    parameters: [
      ...pathParameters(route.path),
      ...(route.query ? queryParameters(schemaOf(route.query, 'input')) : []),
    ],
    ...requestBody(route, { schemaOf }),
    responses: {
      [String(route.status ?? 200)]: success(route, { schemaOf }),
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

function countedAs(route: Route): string | undefined {
  if (route.callers.includes('anyone')) return undefined
  return route.counted === 'never'
    ? 'Never limited.'
    : `Counted in the limit of ${requestClassOf(route)}.`
}

function requestBody({ body, form }: Route, { schemaOf }: Schemas): SchemaNode {
  const content = {
    ...(body ? json(schemaOf(body, 'input')) : {}),
    ...(form ? { 'multipart/form-data': { schema: schemaOf(form, 'input') } } : {}),
  }
  return Object.keys(content).length > 0 ? { requestBody: { required: true, content } } : {}
}

function success({ answer }: Route, { schemaOf }: Schemas): SchemaNode {
  if (answer === 'none') return { description: 'Done.' }
  if (answer === 'stream') {
    return {
      description:
        'Server-sent events; the data of each is one `SessionEvent` or `LiveSessionEvent` as JSON.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }
  }
  if (answer === 'bytes') {
    return {
      description: 'The bytes.',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    }
  }
  if (answer === 'any') return { description: 'The answer of the upstream, as it came.' }
  return { description: 'Done.', content: json(schemaOf(answer, 'output')) }
}

const pathParameters = (path: string): SchemaNode[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const queryParameters = ({
  properties = {},
}: {
  properties?: Record<string, SchemaNode>
}): SchemaNode[] =>
  Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    ...(description === undefined ? {} : { description }),
    schema,
  }))
