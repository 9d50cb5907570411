import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { GateWorld } from './gate-fixture.ts'
import {
  askOver,
  openTestTunnel,
  dialGate,
  waitUntil,
  listenOnFreePort,
  openTls,
  toTheEnd,
  collectUntil,
  openTestGate,
} from './gate-fixture.ts'
import type { OutboundAnswer } from './outbound.ts'
import { RequestRefused } from './outbound.ts'

const ask = (more = '', protocol = 'echo') =>
  `GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${more}\r\n`

const echoing = () =>
  openTestGate({
    upgraded(socket) {
      socket.on('error', () => socket.destroy())
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n')
      socket.write('X-A: 1\r\n\r\nfirst')
      socket.pipe(socket)
    },
  })

async function switched(setup: GateWorld, bytes: string) {
  const socket = await openTls(setup, 'a.example')
  const greeting = collectUntil(socket, (text) => text.includes('first'))
  socket.write(bytes)
  return { socket, greeting: await greeting }
}

describe('an upgrade', () => {
  it('passes both ways, with what came right after the heads', async () => {
    await using setup = await echoing()
    const { socket, greeting } = await switched(setup, `${ask('X-B: 2\r\n')}early`)
    const [head = '', rest = ''] = greeting.split('\r\n\r\n')
    assert.equal(
      head,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-A: 1',
    )
    if (rest === 'first') await collectUntil(socket, (text) => text === 'early')
    else assert.equal(rest, 'firstearly')
    const echo = collectUntil(socket, (text) => text.endsWith('more'))
    socket.write('more')
    assert.equal(await echo, 'more')
    assert.deepEqual(setup.requests[0]?.headers, [
      ['X-B', '2'],
      ['Upgrade', 'echo'],
    ])
    socket.destroy()
  })

  it('carries WebSocket between a client and a server that know nothing of it', async () => {
    const web = createServer()
    const server = new WebSocketServer({ server: web })
    server.on('connection', (peer) => {
      peer.on('message', (data, isBinary) => peer.send(data, { binary: isBinary }))
    })
    const port = await listenOnFreePort(web)
    await using setup = await openTestGate({
      async upgrade({ headers, url }) {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect')
        const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        socket.write(
          `GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n${lines}\r\n`,
        )
        const [chunk] = (await once(socket, 'data')) as [Buffer]
        socket.pause()
        const [head = '', ...rest] = chunk.toString('latin1').split('\r\n\r\n')
        const answered = head.split('\r\n').slice(1)
        return {
          status: 101,
          headers: answered.map((line) => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? '']),
          socket,
          head: Buffer.from(rest.join('\r\n\r\n'), 'latin1'),
        }
      },
    })
    for (const scheme of ['ws', 'wss']) {
      const isSecure = scheme === 'wss'
      const socket = await (isSecure
        ? openTls(setup, 'a.example')
        : openTestTunnel(setup.socketPath, 'a.example:80'))
      const client = new WebSocket(`${scheme}://a.example/`, { createConnection: () => socket })
      await once(client, 'open')
      const big = Buffer.alloc(3_000_000, 5)
      client.send(big)
      const [data] = (await once(client, 'message')) as [Buffer]
      assert.ok(data.equals(big))
      client.send('words')
      const [words] = (await once(client, 'message')) as [Buffer]
      assert.equal(words.toString(), 'words')
      client.close()
      await once(client, 'close')
    }
    server.close()
    web.close()
  })

  it('ends at both ends with either', async () => {
    await using setup = await echoing()
    const { socket } = await switched(setup, ask())
    const end = toTheEnd(socket)
    socket.end('last words')
    assert.equal(await end, 'last words')
  })

  it('that the upstream declines is answered as it answers', async () => {
    const declined: OutboundAnswer = {
      status: 426,
      headers: [['content-length', '2']],
      body: Readable.from([Buffer.from('no')]),
    }
    await using setup = await openTestGate({ upgrade: () => Promise.resolve(declined) })
    const socket = await openTls(setup, 'a.example')
    const answer = toTheEnd(socket)
    socket.write(ask())
    assert.match(
      await answer,
      /^HTTP\/1\.1 426 Upgrade Required\r\n[^]*Connection: close\r\n\r\nno$/,
    )
  })

  it('that is refused, or fails, is answered like any request', async () => {
    const refusal = { host: 'a.example', port: 443, reason: 'denied', message: 'no' } as const
    for (const [error, words] of [
      [new RequestRefused(refusal), /^HTTP\/1\.1 403 /],
      [new Error('boom'), /^HTTP\/1\.1 502 /],
    ] as const) {
      await using setup = await openTestGate({ upgrade: () => Promise.reject(error) })
      const socket = await openTls(setup, 'a.example')
      const answer = toTheEnd(socket)
      socket.write(ask())
      assert.match(await answer, words)
      assert.equal(setup.refusals.length, error instanceof RequestRefused ? 1 : 0)
    }
  })

  it('is held to the host of its tunnel, and judged outside of one', async () => {
    await using setup = await openTestGate({
      judge: ({ port }) =>
        Promise.resolve(
          port === 80 ? { kind: 'refuse', reason: 'denied', message: 'no' } : { kind: 'read' },
        ),
    })
    const socket = await openTls(setup, 'a.example')
    const answer = toTheEnd(socket)
    socket.write(ask().replace('Host: a.example', 'Host: b.example'))
    assert.match(await answer, /^HTTP\/1\.1 421 /)
    const outside = await dialGate(setup.socketPath)
    const judged = toTheEnd(outside)
    outside.write(ask().replace('GET /', 'GET http://a.example/'))
    assert.match(await judged, /^HTTP\/1\.1 403 /)
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['mismatch', 'denied'],
    )
  })

  it('to HTTP/2 in the clear is declined in silence, and one with a body is no upgrade', async () => {
    await using setup = await openTestGate()
    const socket = await openTestTunnel(setup.socketPath, 'a.example:80')
    const h2c = ask('HTTP2-Settings: AAA\r\n', 'h2c')
    assert.match(
      await askOver(socket, h2c.replace('Upgrade\r\n', 'Upgrade, HTTP2-Settings\r\n')),
      /hello$/,
    )
    assert.match(await askOver(socket, `${ask('Content-Length: 2\r\n')}hi`), /hello$/)
    assert.deepEqual(
      setup.requests.map(({ headers }) => headers),
      [[], [['Content-Length', '2']]],
    )
    socket.destroy()
  })

  it('aborts when its client goes away before the answer', async () => {
    let hasAborted = false
    let hasBegun = false
    await using setup = await openTestGate({
      upgrade({ signal }) {
        hasBegun = true
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            hasAborted = true
            reject(signal.reason as Error)
          })
        })
      },
    })
    const socket = await openTls(setup, 'a.example')
    socket.write(ask())
    await waitUntil(() => hasBegun)
    socket.destroy()
    await waitUntil(() => hasAborted)
  })
})
