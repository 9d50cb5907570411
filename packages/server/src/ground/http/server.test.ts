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
