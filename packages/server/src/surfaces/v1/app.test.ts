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
  tags: string[]
  security: object[]
  parameters: { name: string; in: string; schema: object }[]
  responses: object
}

async function described() {
  await using opened = await databases.sqlite()
  const routes = routesOver(opened.database)
  const text = JSON.stringify(openApi(routes, '1.2.3'))
  const paths = (JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }).paths
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
  return { routes, text, operations }
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
        .map(({ path }) => path)
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
})
