import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { after, before, describe } from 'node:test'
import type { LooseBody, TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession } from '../turns.ts'
import { verifies } from '../verifies.ts'

const agent = { name: 'n', model: 'offline', tools: [] }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`requests and answers on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const messageOf = (body: LooseBody) => String((body['error'] as LooseBody)['message'])

    verifies(
      ['http/body/malformed', 'http/body/json', 'errors/body', 'errors/message'],
      'a body that is no JSON object is refused with the one error body',
      async () => {
        for (const text of ['{', '[]', '"x"', 'null', '7', 'name=n']) {
          const { status, headers, body } = await service.ask('POST', '/v1/agents', text)
          assert.equal(status, 400, text)
          assert.equal(body['type'], 'error')
          assert.equal((body['error'] as LooseBody)['type'], 'invalid_request')
          assert.ok(messageOf(body).length > 5)
          assert.equal(body['request_id'], headers.get('request-id'))
          assert.match(headers.get('content-type') ?? '', /^application\/json/)
        }
      },
    )

    verifies(
      ['http/body/unknown-field', 'http/body/wrong-type'],
      'a wrong field of a body is refused by its name and path',
      async () => {
        const answer = async (body: object) => {
          const refused = await service.ask('POST', '/v1/agents', body)
          assert.equal(refused.status, 400)
          return messageOf(refused.body)
        }
        assert.match(await answer({ ...agent, colour: 'red' }), /colour/)
        assert.match(await answer({ ...agent, name: 7 }), /name/)
        const tools = [{ type: 'agent_toolset_20260401', configs: [{ name: 'bash', loud: true }] }]
        assert.match(await answer({ ...agent, tools }), /tools\.0\.configs\.0\.loud/)
        assert.match(await answer({ ...agent, system: 'x'.repeat(100_001) }), /system/)
        const session = await newSession(service)
        const events = { events: [{ type: 'user.message', content: [{ type: 'text' }] }] }
        const posted = await service.ask('POST', `/v1/sessions/${session}/events`, events)
        assert.match(messageOf(posted.body), /events\.0\.content\.0/)
      },
    )

    verifies(
      ['http/body/too-large', 'limits/json-body'],
      'events of more than 32 MiB are refused with 413, with and without a length in the head',
      async () => {
        const path = `/v1/sessions/${await newSession(service)}/events`
        const event = (text: string) => ({
          type: 'user.message',
          content: [{ type: 'text', text }],
        })
        const around = JSON.stringify({ events: [event('')] }).length
        const ofBytes = (bytes: number) =>
          JSON.stringify({ events: [event('x'.repeat(bytes - around))] })
        const most = 32 * 1024 * 1024
        // It is read, and then refused for the length of its text.
        assert.equal((await service.ask('POST', path, ofBytes(most))).status, 400)
        const large = ofBytes(most + 1)
        const refused = await service.ask('POST', path, large)
        assert.equal(refused.status, 413)
        assert.equal((refused.body['error'] as LooseBody)['type'], 'invalid_request')
        const chunked = request(service.base + path, {
          method: 'POST',
          headers: { 'x-api-key': adminKey, 'transfer-encoding': 'chunked' },
        })
        chunked.on('error', () => {})
        chunked.end(large)
        const [answer] = (await once(chunked, 'response')) as [{ statusCode: number }]
        assert.equal(answer.statusCode, 413)
      },
    )

    verifies(
      ['http/body/too-large', 'limits/plain-body', 'limits/record-body'],
      'the official client has the answer to each body that is too large, by what its route takes',
      async () => {
        const { beta } = service.client
        const session = await newSession(service)
        const text = 'x'.repeat(36 * 1024 * 1024)
        const content = [{ type: 'text' as const, text }]
        const isTooLarge = (error: unknown) => (error as { status?: number }).status === 413
        for (let round = 0; round < 4; round++) {
          const events = [{ type: 'user.message' as const, content }]
          await assert.rejects(beta.sessions.events.send(session, { events }), isTooLarge)
          await assert.rejects(beta.vaults.create({ display_name: text }), isTooLarge)
        }
        const vault = { display_name: 'x'.repeat(1024 * 1024) }
        assert.equal((await service.ask('POST', '/v1/vaults', vault)).status, 413)
        const system = 'x'.repeat(2 * 1024 * 1024)
        assert.equal((await service.ask('POST', '/v1/agents', { ...agent, system })).status, 400)
        const record = { ...agent, system: system + system }
        assert.equal((await service.ask('POST', '/v1/agents', record)).status, 413)
      },
    )

    verifies('http/body/structure', 'a body of millions of values is not parsed', async () => {
      const body = `{"name":[${'[],'.repeat(5_000_000)}[]]}`
      for (const [path, most] of [
        ['/v1/sessions', 12_000],
        ['/v1/agents', 20_000],
        ['/v1/vaults', 10_000],
      ] as const) {
        const { status, body: refused } = await service.ask('POST', path, body.slice(0, 900_000))
        assert.equal(status, 400)
        assert.equal(messageOf(refused), `the body holds more than ${most} values`)
      }
      const large = await service.ask('POST', '/v1/sessions', body)
      assert.equal(messageOf(large.body), 'the body holds more than 12000 values')
      const deep = await service.ask('POST', '/v1/agents', '['.repeat(100_000))
      assert.equal(messageOf(deep.body), 'the body is nested more than 256 levels deep')
    })

    verifies(
      ['http/not-offered', 'http/head'],
      'a route that is not offered is refused by its name, and a route with another path by that path',
      async () => {
        const { beta } = service.client
        const refused = (await beta.tunnels.list().catch((error: unknown) => error)) as {
          status: number
          message: string
        }
        assert.equal(refused.status, 404)
        assert.match(refused.message, /MCP tunnels are not offered by this service/)
        const { body } = await service.ask('GET', '/v1/webhook_endpoints')
        assert.match(messageOf(body), /there is \/v1\/ext\/webhook_endpoints$/)
        const dotted = request(`${service.base}/v1/x/%2e%2e/agents`, {
          headers: { 'x-api-key': adminKey },
          path: '/v1/x/%2e%2e/agents',
        }).end()
        const [answer] = (await once(dotted, 'response')) as [IncomingMessage]
        answer.resume()
        assert.equal(answer.statusCode, 400)
      },
    )

    verifies('agents/update', 'PUT changes an agent as POST does', async () => {
      const { id } = (await service.ask('POST', '/v1/agents', agent)).body
      const put = await service.ask('PUT', `/v1/agents/${id}`, { version: 1, name: 'put' })
      assert.deepEqual([put.status, put.body['name'], put.body['version']], [200, 'put', 2])
      const stale = await service.ask('PUT', `/v1/agents/${id}`, { version: 1, name: 'again' })
      assert.equal(stale.status, 409)
    })

    verifies(
      'http/body/absent',
      'a POST that needs no body takes none, or an empty one',
      async () => {
        const { id } = (await service.ask('POST', '/v1/agents', agent)).body
        const url = `${service.base}/v1/agents/${id}/archive`
        const headers = { 'x-api-key': adminKey }
        assert.equal((await fetch(url, { method: 'POST', headers })).status, 200)
        assert.equal((await fetch(url, { method: 'POST', headers, body: '' })).status, 200)
        const session = await newSession(service)
        const cancel = `${service.base}/v1/sessions/${session}/cancel`
        assert.equal((await fetch(cancel, { method: 'POST', headers })).status, 200)
      },
    )

    verifies(
      ['http/query/invalid', 'lists/limit', 'lists/bad-cursor'],
      'a query out of its range is refused',
      async () => {
        const session = await newSession(service)
        const queries = [
          '/v1/agents?limit=0',
          '/v1/agents?limit=1001',
          '/v1/agents?limit=ten',
          '/v1/agents?limit=1.5',
          '/v1/agents?archived=perhaps',
          '/v1/agents?created_at[gte]=yesterday',
          '/v1/agents?page=nonsense',
          `/v1/agents?cursor=${Buffer.from('["agents/desc",[]]').toString('base64url')}`,
          '/v1/sessions?order=sideways',
          '/v1/sessions?agent_version=1',
          '/v1/sessions?agent_id=x&agent_version=0',
          `/v1/sessions/${session}/events?after_seq=-1`,
          `/v1/sessions/${session}/events/stream?event_deltas[]=agent.tool_use`,
        ]
        for (const path of queries) {
          const { status, body } = await service.ask('GET', path)
          assert.equal(status, 400, `${path}: ${status} ${JSON.stringify(body)}`)
        }
        for (const limit of [1, 1000]) {
          assert.equal((await service.ask('GET', `/v1/agents?limit=${limit}`)).status, 200)
        }
      },
    )

    verifies(
      ['http/query/lists', 'http/query/beta-ignored'],
      'a list in a query may be written in three ways, and beta=true changes nothing',
      async () => {
        await newSession(service)
        const [first, ...others] = await Promise.all(
          [
            'statuses[]=pending&statuses[]=running',
            'statuses=pending&statuses=running',
            'statuses=pending,running',
          ]
            .flatMap((query) => [query, `${query}&beta=true`])
            .map(async (query) =>
              (await service.ask('GET', `/v1/sessions?${query}`)).body.data.map(({ id }) => id),
            ),
        )
        assert.ok(first && first.length > 0)
        for (const other of others) assert.deepEqual(other, first)
      },
    )

    verifies('http/path/decoded', 'identifiers in a path are decoded once', async () => {
      const { id } = (await service.ask('POST', '/v1/agents', agent)).body
      const encoded = Buffer.from(id).toString('hex').replaceAll(/../g, '%$&')
      assert.equal((await service.ask('GET', `/v1/agents/${encoded}`)).body.id, id)
      const twice = encoded.replaceAll('%', '%25')
      assert.equal((await service.ask('GET', `/v1/agents/${twice}`)).status, 404)
      for (const strange of ['%E2%98%83', '..%2Fagents', '%20', "'%20or%201=1"]) {
        assert.equal((await service.ask('GET', `/v1/agents/${strange}`)).status, 404, strange)
      }
      assert.equal((await service.ask('GET', '/v1/agents/%00')).status, 400)
      const nul = { ...agent, environment_id: 'env_\0', name: 'a\0b' }
      assert.equal((await service.ask('POST', '/v1/agents', nul)).status, 400)
      assert.ok([400, 404].includes((await service.ask('GET', '/v1/agents/%zz')).status))
    })

    verifies(
      ['http/answer/request-id', 'http/answer/success', 'http/answer/honest', 'http/times'],
      'every answer names its request, and times are in UTC',
      async () => {
        const made = await service.ask('POST', '/v1/agents', agent)
        assert.equal(made.status, 200)
        assert.match(String(made.body['created_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        const ids = new Set<string | null>()
        const session = await newSession(service)
        const message = { type: 'user.message', content: [{ type: 'text', text: 'say: x' }] }
        const posted = await service.raw('POST', `/v1/sessions/${session}/events`, {
          events: [message],
        })
        assert.equal(posted.headers.get('content-type'), null)
        for (const answer of [
          posted,
          await service.raw('GET', '/v1/agents'),
          await service.raw('GET', '/v1/nothing'),
          await service.raw('GET', '/healthz'),
          await service.raw('GET', '/v1/agents', undefined, { 'x-api-key': 'wrong' }),
        ]) {
          ids.add(answer.headers.get('request-id'))
          await answer.text()
        }
        assert.ok(!ids.has(null))
        assert.equal(ids.size, 5)
      },
    )

    verifies(
      ['http/routes/undeclared', 'errors/type/not-found', 'ids/prefixed'],
      'a path or method that no route declares is not found',
      async () => {
        for (const [method, path] of [
          ['GET', '/'],
          ['GET', '/v1'],
          ['GET', '/v1/nothing'],
          ['PUT', '/v1/agents'],
          ['DELETE', '/v1/agents'],
          ['POST', '/healthz'],
        ] as const) {
          const { status, body } = await service.ask(method, path)
          assert.deepEqual([status, (body['error'] as LooseBody)['type']], [404, 'not_found'], path)
        }
        assert.match((await service.ask('POST', '/v1/agents', agent)).body.id, /^agent_/)
      },
    )

    verifies(
      ['http/routes/openapi', 'service/paths/contract', 'service/paths/extensions'],
      'the description is OpenAPI 3.1, and every path in it exists',
      async () => {
        type ListedOperation = { security: object[] }
        type OpenApiDescription = {
          openapi: string
          paths: Record<string, Record<string, ListedOperation>>
        }
        const { body } = await service.ask<OpenApiDescription>('GET', '/openapi.json')
        assert.match(body.openapi, /^3\.1\./)
        const paths = Object.entries(body.paths)
        assert.ok(paths.length > 20)
        for (const [path, operations] of paths) {
          assert.match(path, /^\/(v1\/.+|\.well-known\/.+|oauth\/.+|healthz|readyz|openapi\.json)$/)
          for (const [name, { security }] of Object.entries(operations)) {
            const url = path.replaceAll(/\{\w+\}/g, 'nowhere')
            const [method, redirect] = [name.toUpperCase(), 'manual' as const]
            const answer = await fetch(service.base + url, { method, redirect })
            await answer.body?.cancel()
            const told = `${method} ${path}: ${answer.status}`
            if (security.length > 0) assert.equal(answer.status, 401, told)
            else assert.ok(answer.status < 500 && answer.status !== 401, told)
          }
        }
      },
    )

    verifies(
      ['http/routes/page', 'auth/required'],
      'the page of the description needs no key and no other host',
      async () => {
        const page = await fetch(`${service.base}/docs`)
        const html = await page.text()
        assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
        assert.ok(!/https?:/.test(html), html)
        const named = [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => path)
        assert.equal(named.length, 4)
        for (const path of ['docs', ...named]) {
          const headers = { 'accept-encoding': 'identity' }
          const answer = await fetch(`${service.base}/${path}`, { headers })
          const bytes = (await answer.arrayBuffer()).byteLength
          assert.equal(answer.headers.get('content-length'), String(bytes), path)
          const policy = answer.headers.get('content-security-policy') ?? ''
          assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
          assert.ok(!/unsafe|https?:|\*/.test(policy), policy)
        }
      },
    )

    verifies(['metadata/limits'], 'metadata holds 16 pairs of short keys and values', async () => {
      const made = async (metadata: object) =>
        (await service.ask('POST', '/v1/environments', { name: fresh('m'), metadata })).status
      const pairs = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))
      assert.equal(await made(pairs(16)), 200)
      assert.equal(await made(pairs(17)), 400)
      assert.equal(await made({ ['k'.repeat(64)]: 'v'.repeat(512) }), 200)
      assert.equal(await made({ ['k'.repeat(65)]: 'v' }), 400)
      assert.equal(await made({ k: 'v'.repeat(513) }), 400)
      assert.equal(await made({ '': 'v' }), 400)
      assert.equal(await made({ k: 7 }), 400)
    })

    verifies(
      ['metadata/limits'],
      'metadata that is too much is refused by its code, at once and when merged',
      async () => {
        const pairs = (count: number, prefix: string) =>
          Object.fromEntries(
            Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'v']),
          )
        const environment = { name: fresh('m') }
        const answer = await service.ask('POST', '/v1/environments', environment)
        const agent = { name: 'm', model: 'offline', tools: [] }
        const made = await service.ask('POST', '/v1/agents', agent)
        const session = { agent: made.body.id, environment_id: answer.body.id }
        const post = (path: string, body: object) =>
          service.ask('POST', path, body, { 'anthropic-beta': 'agent-memory-2026-07-22' })
        for (const [path, body] of [
          ['/v1/environments', { name: fresh('m') }],
          ['/v1/agents', agent],
          ['/v1/sessions', session],
          ['/v1/vaults', { display_name: 'm' }],
          ['/v1/memory_stores', { name: 'm' }],
        ] as const) {
          const refusals = [await post(path, { ...body, metadata: pairs(17, 'a') })]
          const whole = await post(path, { ...body, metadata: pairs(16, 'a') })
          assert.equal(whole.status, 200, path)
          const one = `${path}/${whole.body.id}`
          refusals.push(await post(one, { metadata: pairs(1, 'b') }))
          for (const { status, body: refused } of refusals) {
            assert.equal(status, 400, path)
            assert.match(JSON.stringify(refused), /"error_code":"invalid_metadata"/, path)
          }
          const swapped = { metadata: { a0: null, b0: 'v' } }
          assert.equal((await post(one, swapped)).status, 200, path)
        }
      },
    )
  })
}
