import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { dialServer, serveRoutes } from './fixture.ts'
import { rawRoute, route } from './route.ts'
import { serverTimeouts } from './server.ts'

const about = { callers: ['workspace'], section: 'test', summary: 'test' } as const

const slow = new EventEmitter()

const routes = [
  route({ method: 'get', path: '/slow', ...about, answer: z.object({}) }, async () => {
    await once(slow, 'go')
    return { ok: true }
  }),
  rawRoute({ method: 'get', path: '/late', ...about }, async () => {
    slow.emit('asked')
    await once(slow, 'go')
    return {
      ...{ reply: 'switch', protocol: 'steward-egress' },
      take: (socket) => void slow.emit('taken', socket.destroy()),
    }
  }),
  rawRoute({ method: 'get', path: '/switch/:word', ...about }, async ({ params }) => ({
    reply: 'switch',
    protocol: 'steward-egress',
    take: (socket) =>
      void socket.on('data', (heard) => socket.end(`${params.word} ${String(heard)}`)),
  })),
  route({ method: 'get', path: '/plain', ...about, answer: z.object({}) }, async () => ({
    ok: true,
  })),
]

const asking = (path: string, more = 'Upgrade: steward-egress', key = 'workspace') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nConnection: Upgrade, close\r\n${more}\r\n\r\n`

async function said(port: number, request: string): Promise<string> {
  const socket = await dialServer(port, request)
  let all = ''
  socket.on('data', (piece) => (all += String(piece)))
  await once(socket, 'end')
  return all
}

describe('a request to go on in another protocol', () => {
  it('is a route, whose answer is the connection and what came on it already', async () => {
    await using setup = await serveRoutes(routes)
    const answer = await said(setup.port, `${asking('/switch/heard')}hello`)
    const [head = '', rest] = answer.split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n.*\r\nUpgrade: steward-egress$/s)
    assert.equal(rest, 'heard hello')
  })

  it('is refused in the words of every route, and the connection ends', async () => {
    await using setup = await serveRoutes(routes)
    const refused = await said(setup.port, asking('/switch/x', undefined, 'nobody'))
    assert.match(refused, /^HTTP\/1\.1 401 .*no such key/s)
    assert.match(await said(setup.port, asking('/nowhere')), /^HTTP\/1\.1 404 .*there is no GET/s)
  })

  it('is declined where the protocol is another, or the route has none', async () => {
    await using setup = await serveRoutes(routes)
    const other = await said(setup.port, asking('/plain', 'Upgrade: h2c'))
    assert.match(other, /^HTTP\/1\.1 200 /)
    assert.match(await said(setup.port, asking('/plain')), /^HTTP\/1\.1 200 .*connection: close/is)
    const not = await said(setup.port, asking('/switch/x', 'Upgrade: websocket'))
    assert.match(not, /^HTTP\/1\.1 400 .*send Upgrade: steward-egress/s)
  })

  it('ends a connection on which another answer is still owed, and nothing else', async () => {
    await using setup = await serveRoutes(routes)
    const before = 'GET /slow HTTP/1.1\r\nHost: x\r\nx-api-key: workspace\r\n\r\n'
    assert.equal(await said(setup.port, before + asking('/switch/x')), '')
    slow.emit('go')
    assert.match(await said(setup.port, asking('/plain')), /^HTTP\/1\.1 200 /)
  })

  it('has no more time than others for its answer, and then all of it', async () => {
    await using setup = await serveRoutes(routes, { limits: { ...serverTimeouts, timeout: 100 } })
    assert.equal(await said(setup.port, asking('/slow')), '')
    const socket = await dialServer(setup.port, asking('/switch/x'))
    await once(socket, 'data')
    await sleep(300)
    socket.write('still there')
    assert.deepEqual(await once(socket, 'data'), ['x still there'])
  })

  it('whose caller has disconnected meanwhile is passed to nobody', async () => {
    await using setup = await serveRoutes(routes)
    let taken = 0
    slow.on('taken', () => taken++)
    for (const isGone of [true, false]) {
      const asked = once(slow, 'asked')
      const socket = await dialServer(setup.port, asking('/late'))
      await asked
      if (isGone) socket.resetAndDestroy()
      await sleep(100)
      slow.emit('go')
      await sleep(100)
      assert.equal(taken, isGone ? 0 : 1)
      socket.destroy()
    }
  })
})
