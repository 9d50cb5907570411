import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { z } from 'zod'
import type { ErrorKind } from '../core/errors.ts'
import { PlatformError, StorageError } from '../core/errors.ts'
import type { Database, Databases } from '../database/database.ts'
import { dialServer, noDatabase, serveRoutes } from './fixture.ts'
import { contentBody } from './limits.ts'
import { emptyReply } from './reply.ts'
import type { Route } from './route.ts'
import { route } from './route.ts'

const about = { section: 'Tests', summary: 'For tests', answer: z.looseObject({}) } as const
const anyone = { ...about, callers: ['anyone'] } as const

const kinds: [ErrorKind, number, string, string][] = [
  ['invalid_request', 400, 'invalid_request', 'invalid_request_error'],
  ['unauthorized', 401, 'unauthorized', 'authentication_error'],
  ['forbidden', 403, 'forbidden', 'permission_error'],
  ['not_found', 404, 'not_found', 'not_found_error'],
  ['method_not_allowed', 405, 'invalid_request', 'invalid_request_error'],
  ['conflict', 409, 'invalid_request', 'conflict_error'],
  ['precondition_failed', 412, 'invalid_request', 'invalid_request_error'],
  ['too_large', 413, 'invalid_request', 'invalid_request_error'],
  ['rate_limited', 429, 'rate_limited', 'rate_limit_error'],
  ['bad_gateway', 502, 'internal_error', 'api_error'],
  ['unavailable', 503, 'internal_error', 'overloaded_error'],
]

const lost = new Error('lost')
const storage: [string, StorageError, number, string, string | null, string | null][] = [
  ['away', new StorageError('away', lost), 503, 'overloaded_error', '3', null],
  ['full', new StorageError('full', lost), 507, 'api_error', '10', null],
  // Nobody knows whether the write happened, so the official client must not repeat the request.
  ['unsure', new StorageError('away', lost, true), 503, 'overloaded_error', null, 'false'],
]

const echo = route(
  { ...anyone, method: 'post', path: '/v1/echo', body: z.looseObject({}), limits: contentBody },
  async ({ body }) => ({ body }),
)
const failing = route(
  { ...anyone, method: 'post', path: '/v1/fail/:kind' },
  async ({ params }): Promise<object> => {
    const kind = kinds.find(([name]) => name === params.kind)?.[0]
    if (kind) throw new PlatformError(kind, 'your mistake', { error_code: 'some_code' })
    const kept = storage.find(([name]) => name === params.kind)?.[1]
    if (kept) throw kept
    throw new Error('ours: stw_key_secret')
  },
)

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers })

const errorOf = async (answer: Response) =>
  ((await answer.json()) as { error: Record<string, unknown> }).error

describe('a mounted route', () => {
  it("has its caller's database, and the control database where anyone calls", async () => {
    const own: Database = Object.create(noDatabase)
    const opened: string[] = []
    const databases: Databases = {
      isShared: true,
      control: noDatabase,
      open: async (tenant) => {
        opened.push(tenant)
        return own
      },
      due: async function* () {},
      every: async () => [noDatabase, own],
      walk: () => async function* () {},
      forget: async () => {},
      prepare: async () => {},
      close: async () => {},
    }
    const isOwn = async ({ db }: { db: Database }) => ({ own: db === own })
    const get = { ...about, method: 'get' } as const
    await using server = await serveRoutes(
      [
        route({ ...get, path: '/v1/mine', callers: ['workspace'] }, isOwn),
        route({ ...get, path: '/v1/anyone', callers: ['anyone'] }, isOwn),
      ],
      { databases },
    )
    const asked = async (path: string) =>
      (await fetch(server.url + path, { headers: { 'x-api-key': 'workspace' } })).json()
    assert.deepEqual(await asked('/v1/mine'), { own: true })
    assert.deepEqual(await asked('/v1/anyone'), { own: false })
    assert.deepEqual(opened, ['wrkspc_test'])
  })

  it('answers JSON with a request id, whatever the content type said', async () => {
    await using server = await serveRoutes([echo])
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await post(`${server.url}/v1/echo`, '{"a":[1,"ü"]}', { 'content-type': type })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'application/json')
      assert.match(answer.headers.get('request-id') ?? '', /^req_/)
      assert.deepEqual(await answer.json(), { body: { a: [1, 'ü'] } })
    }
    const bodiless = await fetch(`${server.url}/v1/echo`, { method: 'POST' })
    assert.deepEqual(await bodiless.json(), { body: {} })
  })

  it('gets the parts of the path decoded, the query, betas and the reader’s last event', async () => {
    const seen = route(
      {
        ...anyone,
        method: 'get',
        path: '/v1/things/:id/parts/:part',
        query: z.object({ a: z.string() }),
      },
      async ({ params, query, betas, dialect, accept, lastEventId }) => ({
        params,
        query,
        betas: [...betas],
        dialect,
        accept,
        lastEventId,
      }),
    )
    await using server = await serveRoutes([seen])
    const answer = await fetch(`${server.url}/v1/things/a%20b/parts/%C3%BC?a=1&b=2`, {
      headers: {
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'one,two',
        'vendor-beta': ' three , one',
        accept: 'text/event-stream',
        'last-event-id': '7',
      },
    })
    assert.deepEqual(await answer.json(), {
      params: { id: 'a b', part: 'ü' },
      query: { a: '1' },
      betas: ['one', 'two', 'three'],
      dialect: 'client',
      accept: 'text/event-stream',
      lastEventId: '7',
    })
  })

  it('refuses a body that is not JSON', async () => {
    await using server = await serveRoutes([echo])
    const answer = await post(`${server.url}/v1/echo`, '{"a":')
    assert.equal(answer.status, 400)
    assert.match(String((await errorOf(answer))['message']), /^the body is not JSON: /)
  })

  it('refuses a body by its announced length', async () => {
    await using server = await serveRoutes([echo])
    const answer = await post(`${server.url}/v1/echo`, 'x'.repeat(contentBody.bytes + 1))
    assert.equal(answer.status, 413)
    assert.match(String((await errorOf(answer))['message']), /larger than 33554432 bytes/)
  })

  it('refuses a body whose length was not announced as soon as it is too long', async () => {
    await using server = await serveRoutes([echo])
    const socket = await dialServer(
      server.port,
      'POST /v1/echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\n"\r\n',
    )
    let answer = ''
    let wake = () => {}
    socket.on('data', (text: string) => (answer += text))
    for (const event of ['drain', 'data', 'close']) socket.on(event, () => wake())
    // Never ends by itself.
    const megabyte = `100000\r\n${' '.repeat(0x100000)}\r\n`
    for (let sent = 0; sent < 40 && answer === ''; sent++) {
      if (socket.write(megabyte)) continue
      // The server has answered and does not read the rest.
      await new Promise<void>((resolve) => (wake = resolve))
    }
    while (!answer.includes('\r\n\r\n{')) await once(socket, 'data')
    socket.destroy()
    assert.match(answer, /^HTTP\/1\.1 413 /)
    assert.match(answer, /larger than 33554432 bytes/)
    assert.deepEqual(server.logged, [])
  })

  it('reads a body just as long as the limit', async () => {
    const length = route(
      {
        ...anyone,
        method: 'post',
        path: '/v1/length',
        body: z.strictObject({ a: z.string() }),
        limits: contentBody,
      },
      async ({ body }) => ({ length: body.a.length }),
    )
    await using server = await serveRoutes([length])
    const text = 'x'.repeat(contentBody.bytes - 8)
    const answer = await post(`${server.url}/v1/length`, `{"a":"${text}"}`)
    assert.deepEqual(await answer.json(), { length: text.length })
  })

  it('logs nothing about a caller who disconnects in the middle of a body', async () => {
    await using server = await serveRoutes([echo])
    const socket = await dialServer(
      server.port,
      'POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"a"',
    )
    socket.destroy()
    await once(socket, 'close')
    // Meanwhile another request is answered completely.
    assert.equal((await post(`${server.url}/v1/echo`, '{}')).status, 200)
    assert.deepEqual(server.logged, [])
  })

  it('answers with another status, with headers, or with nothing', async () => {
    const routes = [
      route({ ...anyone, method: 'post', path: '/v1/made', status: 201 }, async () => ({ id: 1 })),
      route({ ...anyone, method: 'post', path: '/v1/taken', answer: 'none' }, async () =>
        emptyReply(202),
      ),
      route({ ...anyone, method: 'get', path: '/v1/special' }, async () => ({
        reply: 'json' as const,
        status: 203,
        body: { a: 1 },
        headers: { 'x-special': 'yes' },
      })),
    ]
    await using server = await serveRoutes(routes)
    assert.equal((await post(`${server.url}/v1/made`, '')).status, 201)
    const taken = await post(`${server.url}/v1/taken`, '')
    assert.equal(taken.status, 202)
    assert.equal(await taken.text(), '')
    // JSON with an empty body breaks the official client.
    assert.equal(taken.headers.get('content-type'), null)
    assert.match(taken.headers.get('request-id') ?? '', /^req_/)
    const special = await fetch(`${server.url}/v1/special`)
    assert.equal(special.status, 203)
    assert.equal(special.headers.get('x-special'), 'yes')
  })
})

describe('an error', () => {
  it('has its status and its word in both vocabularies', async () => {
    await using server = await serveRoutes([failing])
    for (const [kind, status, ours, theirs] of kinds) {
      for (const [headers, word] of [
        [{}, ours],
        [{ 'anthropic-version': '2023-06-01' }, theirs],
      ] as const) {
        const answer = await post(`${server.url}/v1/fail/${kind}`, '', headers)
        assert.equal(answer.status, status)
        const id = answer.headers.get('request-id')
        assert.match(id ?? '', /^req_/)
        assert.deepEqual(await answer.json(), {
          type: 'error',
          error: { type: word, message: 'your mistake', details: { error_code: 'some_code' } },
          request_id: id,
        })
        const expected = kind === 'conflict' ? 'false' : null
        assert.equal(answer.headers.get('x-should-retry'), expected)
      }
    }
    assert.deepEqual(server.logged, [])
  })

  it('of the database or the disk says when to come back, or not to', async () => {
    await using server = await serveRoutes([failing])
    for (const [name, error, status, type, after, again] of storage) {
      const headers = { 'anthropic-version': '2023-06-01' }
      const answer = await post(`${server.url}/v1/fail/${name}`, '', headers)
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('retry-after'), after)
      assert.equal(answer.headers.get('x-should-retry'), again)
      assert.deepEqual(await errorOf(answer), { type, message: error.message })
    }
    assert.equal(server.logged.length, storage.length)
  })

  it('that is ours shows only the id under which the log has it', async () => {
    const byLink = { ...anyone, method: 'get', path: '/links/:token' } as const
    await using server = await serveRoutes([
      failing,
      route(byLink, () => {
        throw new Error('a failure')
      }),
    ])
    const answer = await post(`${server.url}/v1/fail/bug`, '')
    assert.equal(answer.status, 500)
    const text = await answer.text()
    const id = answer.headers.get('request-id') ?? ''
    assert.ok(text.includes(id))
    assert.ok(!text.includes('ours'))
    const [record, ...others] = server.logged
    assert.deepEqual(others, [])
    const { level, request_id, path, method, error } = JSON.parse(record ?? '') as {
      [name: string]: { message?: string }
    }
    const expected = { level: 'error', request_id: id, path: '/v1/fail/bug', method: 'POST' }
    assert.deepEqual({ level, request_id, path, method }, expected)
    assert.equal(error?.message, 'ours: [redacted]')
    assert.equal((await fetch(`${server.url}/links/of-a-letter`)).status, 500)
    assert.match(server.logged.at(-1) ?? '', /"path":"\/links\/:token"/)
    assert.doesNotMatch(server.logged.join(), /of-a-letter/)
  })
})

describe('an undeclared route', () => {
  it('does not exist, in any method or spelling', async () => {
    await using server = await serveRoutes([echo])
    const wrong = [
      ['GET', '/v1/echo'],
      ['PUT', '/v1/echo'],
      ['POST', '/v1/echo/'],
      ['POST', '/v1/echo/more'],
      ['POST', '/V1/ECHO'],
      ['GET', '/'],
      ['OPTIONS', '/v1/echo'],
    ]
    for (const [method = '', path] of wrong) {
      const answer = await fetch(`${server.url}${path}`, { method })
      assert.equal(answer.status, 404, `${method} ${path}`)
      assert.match(answer.headers.get('request-id') ?? '', /^req_/)
      const { type, message } = await errorOf(answer)
      assert.equal(type, 'not_found')
      assert.equal(message, `there is no ${method} ${path}`)
    }
  })
})

describe('a caller', () => {
  const each = (callers: Route['callers'], path: string) =>
    route({ ...about, callers, method: 'get', path }, async ({ tenant, principal }) => ({
      tenant,
      kind: principal.kind,
    }))
  const routes = [
    each(['workspace'], '/workspace'),
    each(['admin'], '/admin'),
    each(['environment'], '/environment'),
    each(['workspace', 'environment'], '/both'),
    each(['anyone'], '/anyone'),
  ]

  it('reaches the routes of its kind of key', async () => {
    await using server = await serveRoutes(routes)
    const expected: Record<string, number[]> = {
      workspace: [200, 403, 403, 200, 200],
      admin: [200, 200, 403, 200, 200],
      environment: [401, 401, 200, 200, 200],
      'no such key': [401, 401, 401, 401, 200],
    }
    for (const [key, statuses] of Object.entries(expected)) {
      const answers = await Promise.all(
        routes.map(({ path }) => fetch(server.url + path, { headers: { 'x-api-key': key } })),
      )
      assert.deepEqual(
        answers.map(({ status }) => status),
        statuses,
        key,
      )
    }
  })

  it('is known before its body is read', async () => {
    let read = false
    const body = z.unknown().transform(() => (read = true))
    const guarded = route(
      { ...about, callers: ['workspace'], method: 'post', path: '/v1/x', body },
      async () => ({}),
    )
    await using server = await serveRoutes([guarded])
    assert.equal((await post(`${server.url}/v1/x`, 'not JSON')).status, 401)
    assert.equal(read, false)
  })
})
