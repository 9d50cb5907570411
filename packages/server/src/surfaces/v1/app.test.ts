import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { routesOver } from './app-fixture.ts'
import { databases } from '../../ground/database/fixture.ts'
import { openApi } from '../../ground/http/openapi.ts'

type Json = { [key: string]: Json }
type Operation = {
  operationId: string
  summary: string
  description: string
  'x-extension'?: boolean
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> }
  tags: string[]
  security: Record<string, string[]>[]
  parameters: { name: string; in: string; schema: object }[]
  responses: object
}

type Component = Json & { description?: string; examples?: object[] }

async function described() {
  await using opened = await databases.sqlite()
  const routes = routesOver(opened.database)
  const text = JSON.stringify(openApi(routes, '1.2.3'))
  const paths = (JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }).paths
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
  const { components, tags } = JSON.parse(text) as {
    components: Record<'schemas' | 'securitySchemes' | 'responses', Record<string, Component>>
    tags: { name: string; description?: string }[]
  }
  return { routes, text, operations, components, tags }
}

function* inside(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return
  yield value
  for (const inner of Object.values(value)) yield* inside(inner)
}

const specification = readFileSync(
  new URL('../../../../../docs/interface.md', import.meta.url),
  'utf8',
)
const headings = new Set(
  [...specification.matchAll(/^#+ [\d.]+ (.+)$/gm)].map(([, title = '']) => title),
)

describe('the published description', () => {
  it('groups routes by headings of docs/interface.md', async () => {
    const { routes } = await described()
    const strays = routes.filter(({ section }) => !headings.has(section))
    assert.deepEqual(
      strays.map(({ method, path, section }) => `${method} ${path}: ${section}`),
      [],
    )
  })

  it('is a valid OpenAPI 3.1 document', async () => {
    const { text } = await described()
    const validator = new Validator()
    const result = await validator.validate(JSON.parse(text) as Json)
    assert.ok(result.valid, String(JSON.stringify(result.errors)).slice(0, 2000))
    assert.equal(validator.version, '3.1')
  })

  it('has every declared route, and nothing else', async () => {
    const { routes, operations } = await described()
    const declared = routes.map(
      ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    )
    assert.equal(new Set(declared).size, declared.length)
    assert.deepEqual(
      operations.map(({ method, path }) => `${method} ${path}`).toSorted(),
      declared.toSorted(),
    )
  })

  it('names each operation once, with its section, its parameters and who may call it', async () => {
    const { operations, routes } = await described()
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    for (const { path, operation } of operations) {
      assert.match(operation.operationId, /^[a-zA-Z0-9]+$/)
      assert.ok(operation.summary.length > 0 && operation.tags.length === 1, path)
      const inPath = operation.parameters.filter((each) => each.in === 'path')
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(
        inPath.map(({ name }) => name),
        named,
      )
    }
    const open = operations.filter(({ operation }) => operation.security.length === 0)
    assert.deepEqual(
      open.map(({ path }) => path).toSorted(),
      routes
        .filter(({ callers }) => callers.includes('anyone'))
        .map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'))
        .toSorted(),
    )
  })

  it('points only at what it holds', async () => {
    const { text } = await described()
    const document = JSON.parse(text) as Json
    const refs = [...inside(document)].flatMap((each) =>
      '$ref' in each && typeof each.$ref === 'string' ? [each.$ref] : [],
    )
    assert.ok(refs.length > 0)
    for (const ref of new Set(refs)) {
      assert.match(ref, /^#\//)
      const target = ref
        .slice(2)
        .split('/')
        .reduce<Json | undefined>((at, name) => at?.[name], document)
      assert.ok(target, ref)
    }
  })

  it('gives each resource, event and error one named component, by the official name', async () => {
    const { components, text, operations } = await described()
    const names = Object.keys(components.schemas)
    for (const name of names) assert.match(name, /^[A-Z][A-Za-z0-9]+$/)
    const expected =
      'Agent Session Environment Vault Credential MemoryStore Memory MemoryVersion FileMetadata Skill ModelCard ' +
      'ApiKey WebhookEndpoint SelfHostedWork ErrorResponse UserMessageEvent AgentMessageEvent AgentMCPToolUseEvent ' +
      'SessionStatusIdleEvent SessionErrorEvent SpanModelRequestEndEvent SessionWarningEvent AgentMessageChunkEvent'
    for (const name of expected.split(' ')) assert.ok(names.includes(name), name)
    const perOperation = text.length / operations.length
    assert.ok(perOperation < 2_090, `${text.length} characters`)
  })

  it('has a sentence for each operation, tag, component and key', async () => {
    const { operations, tags, components } = await described()
    for (const { path, operation } of operations)
      assert.match(operation.description, /\.$/, `${operation.operationId} of ${path}`)
    for (const { name, description } of tags) assert.match(description ?? '', /\.$/, name)
    const sentences = { ...components.schemas, ...components.securitySchemes }
    for (const [name, { description }] of Object.entries(sentences)) {
      if (!/Params|Request$/.test(name)) assert.match(description ?? '', /\.$/, name)
    }
  })

  it('names every status and type of an error, and who may call each operation', async () => {
    const { operations, components } = await described()
    const { description } = components.responses['Error'] ?? {}
    for (const status of [400, 401, 403, 404, 405, 409, 412, 413, 429, 500, 502, 503, 507])
      assert.ok(description?.includes(`| ${status} | `), String(status))
    const schemes = operations.flatMap(({ operation }) => operation.security.flatMap(Object.keys))
    for (const name of new Set(schemes)) assert.ok(components.securitySchemes[name], name)
    const poll = operations.find(({ path }) => path.endsWith('/work/poll'))
    assert.deepEqual(poll?.operation.security, [{ EnvironmentKey: [] }])
    assert.match(poll.operation.description, /Needs the environment's key\./)
  })

  it('marks what the official interface does not have', async () => {
    const { operations, components } = await described()
    for (const { path, operation } of operations)
      assert.equal(operation['x-extension'] ?? false, path.startsWith('/v1/ext/'), path)
    const agent = components.schemas['Agent']?.['properties'] as Record<string, Json>
    assert.ok(agent['harness']?.['x-extension'])
    assert.equal(agent['name']?.['x-extension'], undefined)
  })

  it('has an example for each body that is sent', async () => {
    const { operations, components } = await described()
    for (const { operation } of operations)
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        const name = schema.$ref?.replace('#/components/schemas/', '') ?? ''
        assert.ok(components.schemas[name]?.examples?.length, `${operation.operationId} ${name}`)
      }
  })
})
