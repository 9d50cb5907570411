/** The published description, made from the declared routes. OpenAPI 3.1 takes JSON Schema as it is. */
import { ErrorBody } from '@steward/protocol/errors.ts'
import { z } from 'zod'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Json

/** Schemas for one document: definitions that a schema brings along move to `shared`, where its references find them. */
function schemas(shared: Json): SchemaOf {
  const prefixes = new Map<string, string>()
  return (schema, io) => {
    const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
    const { $schema: _, $defs, ...rest } = made
    if ($defs === undefined) return rest
    const key = JSON.stringify($defs)
    const prefix = prefixes.get(key) ?? `Shared${prefixes.size}`
    prefixes.set(key, prefix)
    const moved = (value: unknown) =>
      JSON.parse(
        JSON.stringify(value).replaceAll('"#/$defs/', `"#/components/schemas/${prefix}`),
      ) as Json
    for (const [name, definition] of Object.entries(moved($defs)))
      shared[prefix + name] = definition
    return moved(rest)
  }
}

const json = (schema: Json) => ({ 'application/json': { schema } })

export function openApi(routes: readonly Route[], version: string): Json {
  const shared: Json = {}
  const schemaOf = schemas(shared)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    const item = (paths[path] ??= {})
    item[route.method] = operation(route, schemaOf)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Steward',
      version,
      description: 'A self-hosted, multi-tenant service for running AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { Error: schemaOf(ErrorBody, 'output'), ...shared },
    },
  }
}

function operation(route: Route, schemaOf: SchemaOf): Json {
  const open = route.callers.includes('anyone')
  return {
    operationId: `${route.method}${route.path.replace(/[/:_]+(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/\W/g, '')}`,
    summary: route.summary,
    tags: [route.section],
    security: open ? [] : [{ apiKey: [] }, { bearer: [] }],
    parameters: [
      ...pathParameters(route.path),
      ...(route.query ? queryParameters(route.query, schemaOf) : []),
    ],
    ...(route.body
      ? { requestBody: { required: true, content: json(schemaOf(route.body, 'input')) } }
      : {}),
    ...(route.form
      ? {
          requestBody: {
            required: true,
            content: { 'multipart/form-data': { schema: schemaOf(route.form, 'input') } },
          },
        }
      : {}),
    responses: {
      [String(route.status ?? 200)]: success(route, schemaOf),
      default: { description: 'An error', content: json({ $ref: '#/components/schemas/Error' }) },
    },
  }
}

function success({ answer }: Route, schemaOf: SchemaOf): Json {
  if (answer === 'none') return { description: 'Done' }
  if (answer === 'stream') {
    return {
      description: 'Server-sent events',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }
  }
  if (answer === 'bytes') {
    return {
      description: 'The bytes',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    }
  }
  if (answer === 'any') return { description: 'Whatever the upstream answers' }
  return { description: 'Done', content: json(schemaOf(answer, 'output')) }
}

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

function queryParameters(query: z.ZodType, schemaOf: SchemaOf): Json[] {
  const { properties = {} } = schemaOf(query, 'input') as { properties?: Record<string, Json> }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }))
}
