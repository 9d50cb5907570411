/** The published description, made from the declared routes. OpenAPI 3.1 takes JSON Schema as it is. */
import { z } from 'zod'
import { describeAnswers } from './answers.ts'
import { nameLists } from './lists.ts'
import type { Operation } from './parameters.ts'
import { pathParameters, queryParameters, shareParameters, signedParameters } from './parameters.ts'
import type { SchemaNode } from './schemas.ts'
import { describeSchemas } from './schemas.ts'
import { securityRequirements, securitySchemes } from './security.ts'
import { requestClassOf } from '../rate-limits.ts'
import { acceptedCredentials } from '../refusal.ts'
import { packedBytes } from '../bodies/packed-bytes.ts'
import type { Route } from '../route.ts'
import { route } from '../route.ts'
import { addDiscriminators, nameMembers } from './unions.ts'

/** The parts of a description that differ between the wires. */
export type DescribedSurface = {
  title: string
  summary: string
  introduction: string
  /** Groups of operations: `of` returns the group of a route, and `sentences` describe the groups. */
  tags: { of: (route: Route) => string; sentences: Record<string, string> }
  error: { schema: z.ZodType; description: string; requestIdHeader: string }
  stream: {
    description: string
    /** Schemas of values that stand in a stream and in no other answer. */
    events: readonly z.ZodType[]
  }
}

type Schemas = Pick<ReturnType<typeof describeSchemas>, 'schemaOf'>
type SurfaceSchemas = Schemas & { surface: DescribedSurface }

/** True for a route that the official interface does not have. */
const isExtension = (route: Route): boolean =>
  route.isExtension === true || route.path.startsWith('/v1/ext/')
const extensionSentence = 'An extension of Steward: the official interface does not have it.'

export function openApi(
  all: readonly Route[],
  version: string,
  surface: DescribedSurface,
): SchemaNode {
  const routes = all.filter(({ isPage }) => !isPage)
  const { error, stream } = surface
  const { schemaOf, components } = describeSchemas({
    input: routes.flatMap(({ query, body, form, formAsJson }) =>
      [query, body, form, formAsJson].filter(isSchema),
    ),
    output: [
      error.schema,
      ...stream.events,
      ...routes
        .flatMap(({ answer, further = [] }) => [answer, ...further.map((each) => each.answer)])
        .filter(isSchema),
    ],
  })
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of routes) {
    const item = (paths[bracedPath(route)] ??= {})
    item[route.method] = operation(route, { schemaOf, surface })
  }
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const parameters = shareParameters(operations)
  const schemas = nameMembers({ ...components, ...nameLists(operations, components) })
  const schemes = operations.flatMap((each) => each.security.flatMap(Object.keys))
  return {
    openapi: '3.1.0',
    info: {
      title: surface.title,
      version,
      summary: surface.summary,
      description: surface.introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(routes, surface),
    paths: addDiscriminators(paths, schemas),
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).filter(([name]) => schemes.includes(name)),
      ),
      parameters,
      responses: {
        Error: {
          description: error.description,
          headers: {
            [error.requestIdHeader]: {
              description: 'Names the request in the log of the server.',
              schema: { type: 'string' },
            },
          },
          content: json(schemaOf(error.schema, 'output')),
        },
      },
      schemas: addDiscriminators(schemas, schemas),
    },
  }
}

/** The route that serves the description of `routes`. The bytes are created once. */
export function descriptionRoute(
  path: string,
  version: string,
  { routes, ...surface }: DescribedSurface & { routes: () => readonly Route[] },
): Route {
  const describe = async () => Buffer.from(JSON.stringify(openApi(routes(), version, surface)))
  return route(
    {
      method: 'get',
      path,
      callers: ['anyone'],
      section: 'Health',
      isExtension: true,
      summary: 'Describe this API as OpenAPI 3.1',
      answer: z.looseObject({}),
    },
    packedBytes(describe, [['content-type', 'application/json']]),
  )
}

const bracedPath = ({ path }: Pick<Route, 'path'>): string => path.replaceAll(/:(\w+)/g, '{$1}')

/** The groups in the order of their first routes. */
const tagsOf = (routes: readonly Route[], { tags: { of, sentences } }: DescribedSurface) =>
  [...new Set(routes.map(of))].map((name) => ({ name, description: sentences[name] }))

const isSchema = (value: Route['answer'] | undefined): value is z.ZodType =>
  value instanceof z.ZodType

const json = (schema: SchemaNode) => ({ 'application/json': { schema } })

function operation(route: Route, describing: SurfaceSchemas): Operation {
  const { schemaOf, surface } = describing
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: [
      route.aliasOf && aliasSentence(route.aliasOf),
      route.description,
      `Needs ${acceptedCredentials(route)}.`,
      countedAs(route),
      isExtension(route) ? extensionSentence : undefined,
    ]
      .filter(Boolean)
      .join(' '),
    tags: [surface.tags.of(route)],
    ...(route.aliasOf ? { 'x-alias-of': operationId(route.aliasOf) } : {}),
    ...(isExtension(route) ? { 'x-extension': true } : {}),
    security: securityRequirements(route.callers),
    parameters: [
      ...pathParameters(bracedPath(route)),
      ...(route.query ? queryParameters(schemaOf(route.query, 'input')) : []),
      ...(route.isSigned ? signedParameters : []),
    ],
    ...requestBody(route, describing),
    responses: {
      ...describeAnswers(route, { schemaOf, stream: surface.stream.description }),
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

const operationId = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method}${path.replaceAll(/[/:_]+(\w)/g, (_, letter: string) => letter.toUpperCase()).replaceAll(/\W/g, '')}`

const aliasSentence = (of: Pick<Route, 'method' | 'path'>): string =>
  `The same operation as \`${of.method.toUpperCase()} ${bracedPath(of)}\`.`

function countedAs(route: Route): string | undefined {
  if (route.callers.includes('anyone')) return undefined
  return route.counted === 'never'
    ? 'Never limited.'
    : `Counted in the limit of ${requestClassOf(route)}.`
}

function requestBody(route: Route, { schemaOf }: Schemas): SchemaNode {
  const { form, bytes, body = route.formAsJson } = route
  const content = {
    ...(body ? json(schemaOf(body, 'input')) : {}),
    ...(form ? { 'multipart/form-data': { schema: schemaOf(form, 'input') } } : {}),
    ...(bytes ? { [bytes.type]: { schema: passedSchema(bytes.type) } } : {}),
  }
  if (Object.keys(content).length === 0) return {}
  return {
    requestBody: {
      ...(bytes ? { description: bytes.description } : {}),
      required: true,
      content,
    },
  }
}

/** The schema of a body that another document describes. */
const passedSchema = (type: string): SchemaNode =>
  type === 'application/json' ? {} : { type: 'string', format: 'binary' }
