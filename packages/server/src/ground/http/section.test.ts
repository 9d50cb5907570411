import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ListQuery } from '@steward/protocol/primitives.ts'
import { z } from 'zod'
import { notFound } from '../core/errors.ts'
import { serveRoutes } from './fixture.ts'
import { section } from './section.ts'

const Thing = z.object({ id: z.string(), created_at: z.string() })
const thing = { id: 'thing_1', created_at: '2026-01-01T00:00:00.000Z' }
const things = section('Tests', ['workspace'], '/v1/boxes/:box/things')
const noun = { one: 'a thing', many: 'things', item: '/:id', answer: Thing } as const

const routes = things.plain(noun, {
  create: {
    body: z.object({ name: z.string() }),
    run: async ({ body }) => ({ ...thing, ...body }),
  },
  list: {
    query: ListQuery,
    scope: ({ box }) => `things/${box}`,
    check: async ({ params }) => {
      if (params.box !== 'full') throw notFound('box', params.box)
    },
    rows: async (_, { limit }) => ({ rows: [thing].slice(0, limit), more: true }),
    show: (row, { params }) => ({ ...row, box: params.box }),
  },
  get: { run: async ({ params }) => ({ ...thing, id: params.id }) },
  update: {
    summary: 'Rename a thing',
    body: z.object({ name: z.string() }),
    run: async () => thing,
  },
  archive: { callers: ['admin'], run: async () => thing },
  delete: { type: 'thing_deleted', run: async () => undefined },
})

const ask = async (url: string, init: RequestInit = {}) => {
  const headers = { 'x-api-key': 'workspace' }
  const answer = await fetch(url, { ...init, headers })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

describe('a section', () => {
  it('declares the plain verbs of a resource below its path', () => {
    assert.deepEqual(
      routes.map(({ method, path, summary, callers }) => [method, path, summary, callers.join()]),
      [
        ['post', '/v1/boxes/:box/things', 'Create a thing', 'workspace'],
        ['get', '/v1/boxes/:box/things', 'List things', 'workspace'],
        ['get', '/v1/boxes/:box/things/:id', 'Get a thing', 'workspace'],
        ['post', '/v1/boxes/:box/things/:id', 'Rename a thing', 'workspace'],
        ['patch', '/v1/boxes/:box/things/:id', 'Rename a thing', 'workspace'],
        ['post', '/v1/boxes/:box/things/:id/archive', 'Archive a thing', 'admin'],
        ['delete', '/v1/boxes/:box/things/:id', 'Delete a thing', 'workspace'],
      ],
    )
    assert.ok(routes.every((each) => each.section === 'Tests'))
  })

  it('answers them with the parameters of the whole path', async () => {
    await using server = await serveRoutes(routes)
    const one = `${server.url}/v1/boxes/full/things/thing_7`
    assert.deepEqual((await ask(one)).body, { ...thing, id: 'thing_7' })
    assert.deepEqual((await ask(one, { method: 'DELETE' })).body, {
      id: 'thing_7',
      type: 'thing_deleted',
    })
    assert.equal((await ask(`${one}/archive`, { method: 'POST' })).status, 403)
  })

  it('pages a list within its scope, and refuses a parent that is not there before a cursor', async () => {
    await using server = await serveRoutes(routes)
    const all = (box: string, query = '') => ask(`${server.url}/v1/boxes/${box}/things${query}`)
    const { body } = await all('full', '?limit=1')
    assert.deepEqual(body['data'], [{ ...thing, box: 'full' }])
    const next = `?page=${String(body['next_page'])}`
    assert.equal((await all('full', next)).status, 200)
    assert.equal((await all('full', '?page=foreign')).status, 400)
    assert.equal((await all('empty', '?page=foreign')).status, 404)
  })
})
