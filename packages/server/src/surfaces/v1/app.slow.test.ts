import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openaiRoutesOver, routesOver } from './app-fixture.ts'
import { apiDescription } from './description.ts'
import { databases } from '../../ground/database/fixture.ts'
import type { DescribedSurface } from '../../ground/http/openapi/openapi.ts'
import { openApi } from '../../ground/http/openapi/openapi.ts'
import { openaiDescription as openaiSurface } from '../openai/description.ts'

type Json = { [key: string]: Json }
type Parameter = {
  name: string
  in: string
  required: boolean
  description?: string
  schema: object
}
type Operation = {
  operationId: string
  summary: string
  description: string
  'x-extension'?: boolean
  'x-alias-of'?: string
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> }
  tags: string[]
  security: Record<string, string[]>[]
  parameters: (Parameter | { $ref: string })[]
  responses: object
}
type Component = Json & { description?: string; examples?: object[] }
type Components = Record<'schemas' | 'securitySchemes' | 'responses', Record<string, Component>> & {
  parameters: Record<string, Parameter>
}

type Document = {
  routesOf: typeof routesOver
  surface: DescribedSurface
  client: string
  /** A prefix of the paths that the client does not write. */
  prefix: string
  components: string
  statuses: number[]
  requestIdHeader: string
  /** Operations of the vendor that the client has no method for. */
  official: string[]
  /** The number of operations whose requests are signed. */
  signed: number
  /** The paths of the lists that take `before_id`. */
  goneByIds: string[]
  /** The most characters for each operation. */
  size: number
}

const root = join(import.meta.dirname, '../../../../..')

const documents: Record<'/v1' | '/openai/v1', Document> = {
  '/v1': {
    ...{ routesOf: routesOver, surface: apiDescription, client: '@anthropic-ai/sdk', prefix: '' },
    components:
      'Agent Session Environment Vault Credential MemoryStore Memory MemoryVersion FileMetadata Skill ModelCard ' +
      'ApiKey WebhookEndpoint SelfHostedWork ErrorResponse UserMessageEvent AgentMessageEvent AgentMCPToolUseEvent ' +
      'SessionStatusIdleEvent SessionErrorEvent SpanModelRequestEndEvent SessionWarningEvent AgentMessageChunkEvent ' +
      'AgentList SessionList',
    statuses: [400, 401, 403, 404, 405, 409, 412, 413, 429, 500, 502, 503, 507],
    requestIdHeader: 'request-id',
    official: ['get /v1/organizations/usage_report/messages', 'get /v1/organizations/cost_report'],
    signed: 2,
    goneByIds: [
      ...['/v1/files', '/v1/models', '/v1/organizations/users', '/v1/organizations/invites'],
      ...['/v1/organizations/workspaces/{id}/members', '/v1/organizations/workspaces'],
      ...['/v1/organizations/api_keys', '/v1/organizations/webhooks'],
    ],
    size: 2_700,
  },
  '/openai/v1': {
    ...{ routesOf: openaiRoutesOver, surface: openaiSurface, client: 'openai' },
    prefix: '/openai/v1',
    components:
      'OpenAIAgent OpenAISession OpenAITurn OpenAIItem OpenAIError OpenAIVault OpenAIAgentList',
    statuses: [400, 401, 403, 404, 409, 429],
    requestIdHeader: 'x-request-id',
    official: [],
    signed: 0,
    goneByIds: [],
    size: 2_700,
  },
}

async function described({ routesOf, surface: of }: Document) {
  await using opened = await databases.sqlite()
  const routes = routesOf(opened.database)
  const text = JSON.stringify(openApi(routes, '1.2.3', of))
  const { components, tags, paths, info } = JSON.parse(text) as {
    components: Components
    info: { description: string }
    paths: Record<string, Record<string, Operation>>
    tags: { name: string; description?: string }[]
  }
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
  const parametersOf = ({ parameters }: Operation): Parameter[] =>
    parameters.map((each) => {
      if (!('$ref' in each)) return each
      const shared = components.parameters[each.$ref.replace('#/components/parameters/', '')]
      assert.ok(shared, each.$ref)
      return shared
    })
  return { routes, text, operations, components, tags, info, parametersOf }
}

/** Walks all values except examples, because examples are no schemas. */
function* inside(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return
  yield value
  for (const [key, inner] of Object.entries(value)) if (key !== 'examples') yield* inside(inner)
}

const braced = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')
const specification = readFileSync(join(root, 'docs/interface.md'), 'utf8')
const headings = new Set(
  [...specification.matchAll(/^#+ [\d.]+ (.+)$/gm)].map(([, title = '']) => title),
)

/** `get /v1/agents/*` for each request in the methods of an official client. */
function operationsOf(client: string): ReadonlySet<string> {
  const folder = join(root, 'node_modules', client, 'resources')
  const call =
    /this\._client\s*\.(get|post|put|patch|delete|getAPIList)\((?:path ?)?[`'](\/[^`'?]*)/g
  const texts = globSync('**/*.mjs', { cwd: folder }).map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  )
  const calls = texts.flatMap((text) => [...text.matchAll(call)])
  assert.ok(calls.length > 100, client)
  return new Set(
    calls.map(
      ([, verb = '', path = '']) =>
        `${verb === 'getAPIList' ? 'get' : verb} ${path.replaceAll(/\$\{[^}]*\}/g, '*')}`,
    ),
  )
}

/** Fields that need no sentence, because their names say everything. */
const plain = new Set(
  (
    'id type object name title description metadata data text message email filename user_agent first_id last_id ' +
    'created_at updated_at archived_at agent_id environment_id session_id turn_id vault_id credential_id ' +
    'memory_store_id memory_id file_id skill_id deployment_id workspace_id'
  ).split(' '),
)

/** True when the field is explained: by a sentence, by a constant value, or by a component with a sentence. */
function isSaid(field: Json | undefined): boolean {
  if (field === undefined) return false
  const members = [field['anyOf'] ?? field['oneOf'] ?? []].flat() as Json[]
  const isSaidOf = (each: Json) =>
    '$ref' in each || 'description' in each || each['type'] === ('null' as unknown)
  return (
    'description' in field ||
    'const' in field ||
    '$ref' in field ||
    (members.length > 0 && members.every(isSaidOf))
  )
}

for (const [name, document] of Object.entries(documents)) {
  describe(`the published description of ${name}`, () => {
    it('groups routes by headings of docs/interface.md', async () => {
      const { routes } = await described(document)
      const strays = routes.filter(({ section }) => !headings.has(section))
      assert.deepEqual(
        strays.map(({ method, path, section }) => `${method} ${path}: ${section}`),
        [],
      )
    })

    it('is a valid OpenAPI 3.1 document', async () => {
      const { text } = await described(document)
      const validator = new Validator()
      const result = await validator.validate(JSON.parse(text) as Json)
      assert.ok(result.valid, String(JSON.stringify(result.errors)).slice(0, 2000))
      assert.equal(validator.version, '3.1')
    })

    it('has every declared route but the pages for people, and nothing else', async () => {
      const { routes, operations } = await described(document)
      const declared = routes
        .filter(({ isPage }) => !isPage)
        .map(({ method, path }) => `${method} ${braced(path)}`)
      assert.equal(new Set(declared).size, declared.length)
      assert.deepEqual(
        operations.map(({ method, path }) => `${method} ${path}`).toSorted(),
        declared.toSorted(),
      )
      for (const path of declared) assert.ok(!/\/(docs|signin)\b/.test(path), path)
    })

    it('names each operation once, with its section, its parameters and who may call it', async () => {
      const { operations, routes, parametersOf } = await described(document)
      const ids = operations.map(({ operation }) => operation.operationId)
      assert.equal(new Set(ids).size, ids.length)
      for (const { path, operation } of operations) {
        assert.match(operation.operationId, /^[a-zA-Z0-9]+$/)
        assert.ok(operation.tags.length === 1, path)
        const inPath = parametersOf(operation).filter((each) => each.in === 'path')
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
        assert.deepEqual(
          inPath.map((each) => each.name),
          named,
        )
      }
      const open = operations.filter(({ operation }) => operation.security.length === 0)
      assert.deepEqual(
        open.map(({ path }) => path).toSorted(),
        routes
          .filter(({ callers, isPage }) => callers.includes('anyone') && !isPage)
          .map(({ path }) => braced(path))
          .toSorted(),
      )
    })

    it('has the signature and the workspace of each request that is signed instead of having a key', async () => {
      const { operations, parametersOf } = await described(document)
      const signed = operations.filter(({ operation }) =>
        / Signed with /.test(` ${operation.description}`),
      )
      assert.equal(signed.length, document.signed)
      for (const { operation } of signed)
        assert.deepEqual(
          parametersOf(operation)
            .filter((each) => each.in !== 'path' && each.required)
            .map((each) => `${each.in} ${each.name}`),
          [
            ...['query workspace', 'header webhook-id', 'header webhook-timestamp'],
            'header webhook-signature',
          ],
        )
    })

    it('has the ids of a page for the lists alone that go by them', async () => {
      const { operations, parametersOf } = await described(document)
      const lists = operations.filter(({ operation }) =>
        parametersOf(operation).some(({ name }) => name === 'before_id'),
      )
      assert.deepEqual(
        lists.map(({ path }) => path),
        document.goneByIds,
      )
    })

    it('points only at what it holds', async () => {
      const { text } = await described(document)
      const whole = JSON.parse(text) as Json
      const refs = [...inside(whole)].flatMap((each) => {
        const { $ref, mapping = {} } = each as { $ref?: unknown; mapping?: object }
        const mapped: unknown[] = 'propertyName' in each ? Object.values(mapping) : []
        return [$ref, ...mapped].filter((ref) => typeof ref === 'string')
      })
      assert.ok(refs.length > 0)
      for (const ref of new Set(refs)) {
        assert.match(ref, /^#\//)
        const target = ref
          .slice(2)
          .split('/')
          .reduce<Json | undefined>((at, part) => at?.[part], whole)
        assert.ok(target, ref)
      }
    })

    it('gives each resource, event, list and error one named component', async () => {
      const { components, text, operations } = await described(document)
      const names = Object.keys(components.schemas)
      for (const each of names) assert.match(each, /^[A-Z][A-Za-z0-9]+$/)
      for (const each of document.components.split(' ')) assert.ok(names.includes(each), each)
      const perOperation = text.length / operations.length
      assert.ok(perOperation < document.size, `${text.length} characters`)
    })

    it('has a sentence for each tag, component, key and parameter', async () => {
      const { operations, tags, components, parametersOf } = await described(document)
      for (const { name: tag, description } of tags) assert.match(description ?? '', /\.$/, tag)
      const sentences = { ...components.schemas, ...components.securitySchemes }
      for (const [component, { description }] of Object.entries(sentences)) {
        if (!/Params|Request$/.test(component)) assert.match(description ?? '', /\.$/, component)
      }
      for (const { operation } of operations)
        for (const { name: parameter, description } of parametersOf(operation))
          assert.match(description ?? '', /\.$/, `${operation.operationId} ${parameter}`)
    })

    it('says what each operation does, and what becomes of what it changes', async () => {
      const { routes, operations } = await described(document)
      for (const { operation } of operations)
        assert.match(operation.summary, /^[A-Z][a-z]+ .+[^.]$/, operation.operationId)
      const mute = routes.filter(
        ({ method, description, isPage }) => method !== 'get' && !isPage && !description,
      )
      assert.deepEqual(
        mute.map(({ method, path }) => `${method} ${path}`),
        [],
      )
      for (const { description = 'None.', path } of routes)
        assert.match(description, /^[A-Z`].*\.$/s, path)
    })

    it('says of each field what it is, unless its name does', async () => {
      const { components, text } = await described(document)
      const { paths } = JSON.parse(text) as { paths: object }
      const mute = new Set<string>()
      const whole = { ...components.schemas, ...paths }
      for (const [owner, schema] of Object.entries(whole))
        for (const node of inside(schema)) {
          const { properties, propertyName } = node as Json
          if (propertyName || typeof properties !== 'object') continue
          for (const [field, described] of Object.entries(properties))
            if (!plain.has(field) && !isSaid(described)) mute.add(`${owner} ${field}`)
        }
      assert.deepEqual([...mute], [])
    })

    it('names every status and type of an error, and who may call each operation', async () => {
      const { operations, components } = await described(document)
      const { description, headers = {} } = components.responses['Error'] ?? {}
      for (const status of document.statuses)
        assert.ok(description?.includes(`| ${status} | `), String(status))
      assert.deepEqual(Object.keys(headers), [document.requestIdHeader])
      const schemes = operations.flatMap(({ operation }) => operation.security.flatMap(Object.keys))
      assert.deepEqual(
        [...new Set(schemes)].toSorted(),
        Object.keys(components.securitySchemes).toSorted(),
      )
    })

    it('marks each operation that the official client does not have', async () => {
      const { operations, info } = await described(document)
      assert.match(info.description, /`x-extension: true` marks/)
      const official = operationsOf(document.client)
      for (const { path, method, operation } of operations) {
        const called = `${method} ${path.replace(document.prefix, '').replaceAll(/\{\w+\}/g, '*')}`
        const isOfficial = official.has(called) || document.official.includes(`${method} ${path}`)
        assert.equal(operation['x-extension'] ?? false, !isOfficial, `${method} ${path}`)
      }
    })

    it('says of another spelling which operation it is', async () => {
      const { operations } = await described(document)
      const byId = new Map(operations.map(({ operation }) => [operation.operationId, operation]))
      for (const { operation } of operations) {
        const of = operation['x-alias-of']
        if (of !== undefined) assert.equal(operation.summary, byId.get(of)?.summary)
      }
      const told = operations.map(({ operation: { tags, summary, ...operation } }) =>
        operation['x-alias-of'] ? '' : `${tags[0]}: ${summary}`,
      )
      const once = told.filter(Boolean)
      assert.equal(
        new Set(once).size,
        once.length,
        String(once.filter((each, at) => once.indexOf(each) < at)),
      )
    })

    it('has an example for each body that is described', async () => {
      const { operations, components, routes } = await described(document)
      const passedOn = new Set(routes.filter(({ bytes }) => bytes).map(({ path }) => braced(path)))
      for (const { operation, path } of operations)
        for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
          const component = schema.$ref?.replace('#/components/schemas/', '') ?? ''
          const hasExample = components.schemas[component]?.examples?.length
          assert.ok(hasExample || passedOn.has(path), `${operation.operationId} ${component}`)
        }
    })
  })
}

describe('the published description', () => {
  it('marks fields and credentials that the official interface does not have', async () => {
    const { operations, components } = await described(documents['/v1'])
    const agent = components.schemas['Agent']?.['properties'] as Record<string, Json>
    assert.ok(agent['harness']?.['x-extension'])
    assert.equal(agent['name']?.['x-extension'], undefined)
    const poll = operations.find(({ path }) => path.endsWith('/work/poll'))
    assert.deepEqual(poll?.operation.security, [{ EnvironmentKey: [] }])
    assert.match(poll.operation.description, /Needs the environment's key\./)
  })

  it('says which property distinguishes the members of a union', async () => {
    const { components } = await described(documents['/v1'])
    const { propertyName, mapping } = components.schemas['SessionEvent']?.['discriminator'] ?? {}
    assert.equal(propertyName, 'type')
    assert.equal(mapping?.['user.message'], '#/components/schemas/UserMessageEvent')
  })
})
