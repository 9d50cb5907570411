/**
 * Input that no client sends and every caller may send. The answer must name the mistake and never be a failure of the
 * server.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { routesOver } from './app-fixture.ts'
import { encodeCursor } from '../../ground/core/text/cursor.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { serveRoutes } from '../../ground/http/fixture.ts'

type Made = { id: string }

async function serving(dialect: keyof typeof databases) {
  const opened = await databases[dialect]()
  const server = await serveRoutes(routesOver(opened.database), {
    databases: oneDatabase(opened.database),
  })
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { 'x-api-key': 'workspace' },
      ...(body === undefined
        ? {}
        : {
            body: typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body),
          }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const make = async (path: string, body: object) => {
    const { status, text } = await call('POST', path, body)
    assert.equal(status, 200, text)
    return JSON.parse(text) as Made
  }
  const environment = await make('/v1/environments', { name: 'e' })
  const agent = await make('/v1/agents', { name: 'a', model: 'm', tools: [] })
  const session = await make('/v1/sessions', { agent: agent.id, environment_id: environment.id })
  return {
    call,
    ids: { environment: environment.id, agent: agent.id, session: session.id },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}

const strange = ['\0', 'a\0b', '\ud800', 'b\udc00', 'x'.repeat(10_000)]

for (const dialect of ['sqlite', 'postgres'] as const) {
  describe(`strange input, on ${dialect}`, () => {
    it('is refused where an id is expected', async () => {
      await using server = await serving(dialect)
      const { agent, environment, session } = server.ids
      for (const id of strange) {
        const bodies: [string, object][] = [
          ['/v1/sessions', { agent: id, environment_id: environment }],
          ['/v1/sessions', { agent: { type: 'agent', id }, environment_id: environment }],
          ['/v1/sessions', { agent, environment_id: id }],
          ['/v1/agents', { name: 'a', model: 'm', tools: [], environment_id: id }],
          [`/v1/agents/${agent}`, { environment_id: id }],
          ['/v1/ext/api_keys', { name: 'k', expires_at: null, environment_id: id }],
          [
            `/v1/sessions/${session}/events`,
            { events: [{ type: 'user.custom_tool_result', custom_tool_use_id: id }] },
          ],
        ]
        for (const [path, body] of bodies) {
          const { status, text } = await server.call('POST', path, body)
          assert.equal(status, 400, `${path} ${JSON.stringify(body).slice(0, 100)}: ${text}`)
        }
      }
    })

    it('is refused when it is nested without end, or an agent is larger than any needs to be', async () => {
      await using server = await serving(dialect)
      const fixed = { name: 'a', model: 'm' }
      const tool = { type: 'custom', name: 'x', description: 'd' }
      for (const depth of [300, 3_000, 100_000]) {
        const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`
        for (const body of [
          { ...fixed, tools: [], metadata: { a: '@' } },
          { ...fixed, tools: [{ ...tool, input_schema: { type: 'object', x: '@' } }] },
        ]) {
          const text = JSON.stringify(body).replace('"@"', deep)
          const { status, text: answer } = await server.call('POST', '/v1/agents', text)
          assert.equal(status, 400)
          assert.match(answer, /nested more than 256 levels/)
        }
      }
      const description = 'x'.repeat(1024 * 1024)
      const input_schema = { type: 'object' }
      const tools = [{ type: 'custom', name: 'x', description, input_schema }]
      const { agent, environment } = server.ids
      for (const [path, body] of [
        ['/v1/agents', { ...fixed, tools }],
        [`/v1/agents/${agent}`, { tools }],
        ['/v1/environments', { name: 'f', env: { A: description } }],
        [`/v1/environments/${environment}`, { env: { A: description } }],
      ] as const) {
        const { status, text } = await server.call('POST', path, body)
        assert.equal(status, 400)
        assert.match(text, /larger than 1048576 bytes/)
      }
    })

    it('is refused when it is not UTF-8', async () => {
      await using server = await serving(dialect)
      const body = Buffer.from('{"name":"caf\xe9"}', 'latin1')
      const { status, text } = await server.call('POST', '/v1/environments', body)
      assert.equal(status, 400)
      assert.match(text, /not UTF-8/)
    })

    it('is refused when an endpoint holds credentials, which its card would show', async () => {
      await using server = await serving(dialect)
      const card = { model_id: 'c', provider: 'oai-compatible', model: 'm', api_key: 'k' }
      for (const base_url of ['http://me:secret@127.0.0.1:1/v1', 'http://me@127.0.0.1:1/v1']) {
        const { status, text } = await server.call('POST', '/v1/ext/model_cards', {
          ...card,
          base_url,
        })
        assert.equal(status, 400)
        assert.match(text, /base_url: may hold no credentials/)
        assert.doesNotMatch(text, /secret/)
      }
    })

    it('is refused in a cursor', async () => {
      await using server = await serving(dialect)
      const { agent } = server.ids
      for (const text of strange) {
        for (const list of ['agents', 'environments', 'sessions', 'models']) {
          for (const path of [
            ['after', text, 'x'],
            ['before', 'x', text],
          ]) {
            const page = encodeCursor(`${list}/desc`, path)
            assert.equal((await server.call('GET', `/v1/${list}?page=${page}`)).status, 400)
          }
        }
      }
      for (const version of [Number.MIN_SAFE_INTEGER, -1, 0]) {
        const page = encodeCursor(`versions/${agent}`, [version])
        const { status } = await server.call('GET', `/v1/agents/${agent}/versions?page=${page}`)
        assert.equal(status, 400)
      }
    })
  })
}
