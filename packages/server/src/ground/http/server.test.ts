import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import { dialServer, serveRoutes } from './fixture.ts'
import { streamReply } from './reply.ts'
import { route } from './route.ts'
import { serverTimeouts } from './server.ts'
import { keepStreamsAlive } from './sse.ts'

const fixed = { callers: ['anyone'], section: 'Tests', summary: 'For tests' } as const
const echo = route(
  { ...fixed, method: 'post', path: '/echo', body: z.looseObject({}), answer: z.looseObject({}) },
  async ({ body }) => body,
)
const large = route(
  { ...fixed, method: 'get', path: '/large', answer: z.looseObject({}) },
  async () => ({ text: 'x'.repeat(50_000_000) }),
)

/** Returns all output of the server until it closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (piece: string) => (text += piece)).on('error', () => {})
  await once(socket, 'close')
  return text
}

const brief = { ...serverTimeouts, connectionsCheckingInterval: 20 }

describe('a caller who takes their time', () => {
  it('is cut off when the headers do not come', async () => {
    const limits = { ...brief, headersTimeout: 100 }
    await using server = await serveRoutes([echo], { limits })
    const socket = await dialServer(server.port, 'POST /echo HTTP/1.1\r\nhost: x\r\nx-slow: ')
    assert.match(await untilClosed(socket), /^HTTP\/1\.1 408 /)
  })

  it('is cut off when the body does not come', async () => {
    const limits = { ...brief, headersTimeout: 100, requestTimeout: 200 }
    await using server = await serveRoutes([echo], { limits })
    const head = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'
    assert.match(await untilClosed(await dialServer(server.port, head)), /^HTTP\/1\.1 408 /)
    assert.deepEqual(server.logged, [])
  })

  it('is cut off when they do not take the answer', async () => {
    await using server = await serveRoutes([large], { limits: { ...brief, timeout: 200 } })
    const socket = await dialServer(server.port, 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'data')
    socket.pause()
    while ((await server.connections()) > 0) await setTimeout(20)
    socket.resume()
    assert.ok((await untilClosed(socket)).length < 50_000_000)
  })

  it('keeps a stream that lasts longer than all of these', async () => {
    const done = Promise.withResolvers<void>()
    const silent = route({ ...fixed, method: 'get', path: '/s', answer: 'stream' }, async () =>
      streamReply(async function* () {
        await done.promise
        yield 'last'
      }),
    )
    const limits = { ...brief, headersTimeout: 100, requestTimeout: 100, timeout: 250 }
    await using server = await serveRoutes([silent], { limits })
    const answer = await fetch(`${server.url}/s`)
    for (let n = 0; n < 6; n++) {
      await setTimeout(100)
      keepStreamsAlive()
    }
    done.resolve()
    assert.match(await answer.text(), /last$/)
  })
})

describe('a request that reaches no route', () => {
  const unreadable: [what: string, status: number, request: string][] = [
    ['is no HTTP', 400, 'hello\r\n\r\n'],
    [
      'has two lengths',
      400,
      'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    ],
    ['names no host', 400, 'GET / HTTP/1.1\r\n\r\n'],
    ['has a host that is none', 400, 'GET / HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n'],
    ['has no path', 400, 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    ['expects the unknown', 417, 'GET / HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n'],
    [
      'has too long headers',
      431,
      `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`,
    ],
  ]
  for (const [what, status, request] of unreadable)
    it(`and ${what} has the body of every error, and an id`, async () => {
      await using server = await serveRoutes([echo])
      const text = await untilClosed(await dialServer(server.port, request))
      const [head = '', body = ''] = text.split('\r\n\r\n')
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
      const { type, error, request_id } = JSON.parse(body) as {
        type: string
        error: { type: string; message: string }
        request_id: string
      }
      assert.equal(type, 'error')
      assert.equal(error.type, 'invalid_request')
      assert.ok(error.message.length > 0)
      assert.match(head, new RegExp(`^request-id: ${request_id}$`, 'm'))
      assert.deepEqual(server.logged, [])
    })

  it('and follows one whose answer has begun does not disturb the answer', async () => {
    await using server = await serveRoutes([large])
    const socket = await dialServer(server.port, 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'data')
    socket.write('hello\r\n\r\n')
    assert.doesNotMatch(await untilClosed(socket), /HTTP\/1\.1 400/)
  })
})
