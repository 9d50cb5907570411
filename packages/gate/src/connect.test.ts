import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import {
  askOver,
  openTestTunnel,
  dialGate,
  waitUntil,
  listenOnFreePort,
  answerTo,
  openTls,
  toTheEnd,
  collectUntil,
  openTestGate,
} from './gate-fixture.ts'
import { connect } from 'node:net'
import type { GateOwner } from './outbound.ts'
import { RequestRefused } from './outbound.ts'
import { hostPolicy } from './policy.ts'

const tunnelling: Partial<GateOwner> = { judge: () => Promise.resolve({ kind: 'tunnel' }) }
const get = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`

function listed(allow: string[]): Partial<GateOwner> {
  const policy = hostPolicy({ limited: true, allow, deny: [] })
  return {
    judge({ host }) {
      const reason = policy(host)
      if (!reason) return Promise.resolve({ kind: 'read' })
      const message = `the environment does not allow ${host}`
      return Promise.resolve({ kind: 'refuse', reason, message })
    },
  }
}

describe('CONNECT', () => {
  it('to a host that is not allowed is refused in words, and reported once to the owner', async () => {
    await using setup = await openTestGate(listed(['good.example']))
    const answer = await answerTo(
      setup.socketPath,
      'CONNECT bad.example:443 HTTP/1.1\r\nHost: bad.example:443\r\n\r\n',
    )
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 403 Forbidden: the environment does not allow bad\.example\r\n/)
    assert.match(head, /\r\nX-Egress-Error: not_allowed\r\n/)
    assert.deepEqual(JSON.parse(body), {
      error: {
        type: 'egress_error',
        code: 'not_allowed',
        message: 'the environment does not allow bad.example',
        host: 'bad.example',
        port: 443,
      },
    })
    const told = { host: 'bad.example', port: 443, reason: 'not_allowed' }
    assert.deepEqual(setup.refusals, [
      { ...told, message: 'the environment does not allow bad.example' },
    ])
  })

  it('compares names in one form', async () => {
    await using setup = await openTestGate(listed(['good.example']))
    for (const host of ['GOOD.example', 'good.example.']) {
      const socket = await openTls(setup, host, { servername: 'good.example' })
      assert.match(await askOver(socket, get(host)), /\r\n\r\nhello$/)
      socket.destroy()
    }
  })

  it('to a bare address is refused in every form of an address, whatever the owner allows', async () => {
    await using setup = await openTestGate()
    const forms = ['127.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:7f00:1]', '2852039166']
    // Where clouds say who a machine or a pod is.
    forms.push('169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16')
    forms.push('[fd00:ec2::254]', '[fd00:ec2::23]', '[::ffff:169.254.169.254]')
    for (const host of forms) {
      const answer = await answerTo(setup.socketPath, `CONNECT ${host}:443 HTTP/1.1\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 403 .*bare address/, host)
      const plain = `GET http://${host}/latest/ HTTP/1.1\r\nhost: ${host}\r\n\r\n`
      assert.match(
        await answerTo(setup.socketPath, plain),
        /^HTTP\/1\.1 403 [^]*bare address/,
        host,
      )
    }
    assert.deepEqual(new Set(setup.refusals.map(({ reason }) => reason)), new Set(['bare_address']))
    assert.equal(setup.refusals.length, 2 * forms.length)
  })

  it('to a port of another protocol is refused', async () => {
    await using setup = await openTestGate()
    for (const port of [0, 22, 25, 6667]) {
      const answer = await answerTo(setup.socketPath, `CONNECT a.example:${port} HTTP/1.1\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 403 .*\r\n[^]*X-Egress-Error: port\r\n/)
    }
  })

  it('that names two hosts, a user, a path or no port is refused', async () => {
    await using setup = await openTestGate()
    const wrong = ['a.example', 'a.example:', 'a.example:99999', 'user@a.example:443', ':443']
    wrong.push('https://a.example:443', 'a.example:443/path', 'a b:443', 'a%00b:443', '[::1:443')
    for (const authority of wrong) {
      const answer = await answerTo(setup.socketPath, `CONNECT ${authority} HTTP/1.1\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 400 /, authority)
    }
    const start = 'CONNECT a.example:443 HTTP/1.1\r\n'
    const bodied = await answerTo(setup.socketPath, `${start}Content-Length: 5\r\n\r\nabcde`)
    assert.match(bodied, /^HTTP\/1\.1 400 /)
    const twice = await answerTo(
      setup.socketPath,
      `${start}Host: a.example\r\nHost: b.example\r\n\r\n`,
    )
    assert.match(twice, /^HTTP\/1\.1 400 /)
    assert.deepEqual(setup.refusals, [])
    for (const host of ['b.example', 'a.example:444']) {
      const other = await answerTo(setup.socketPath, `${start}Host: ${host}\r\n\r\n`)
      assert.match(other, /^HTTP\/1\.1 421 /)
    }
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['mismatch', 'mismatch'],
    )
  })

  it('to an upstream that cannot be reached says why, in the gate’s own words alone', async () => {
    const secret = 'a-secret-in-a-message'
    await using setup = await openTestGate({
      ...tunnelling,
      dial: () => Promise.reject(Object.assign(new Error(secret), { code: 'ECONNREFUSED' })),
    })
    const answer = await answerTo(setup.socketPath, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n')
    assert.match(
      answer,
      /^HTTP\/1\.1 502 .*a\.example:443 .*refused the connection \(ECONNREFUSED\)/,
    )
    assert.ok(!answer.includes(secret))
    assert.deepEqual(setup.refusals, [])
  })

  it('to a name whose address is refused at the dial is refused, and reported once', async () => {
    const refusal = {
      host: 'a.example',
      port: 443,
      reason: 'private_address',
      message: 'no',
    } as const
    await using setup = await openTestGate({
      ...tunnelling,
      dial: () => Promise.reject(new RequestRefused(refusal)),
    })
    const answer = await answerTo(setup.socketPath, 'CONNECT a.example:443 HTTP/1.1\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 403 .*\r\n[^]*X-Egress-Error: private_address\r\n/)
    assert.deepEqual(setup.refusals, [refusal])
  })
})

describe('a tunnel', () => {
  it('passes bytes unseen, under the upstream’s own certificate, and is reported when it ends', async () => {
    await using setup = await openTestGate(tunnelling)
    const socket = await openTls(setup, 'a.example', { ca: setup.upstream.pem })
    assert.match(await askOver(socket, get('another.example')), /\r\n\r\nhello$/)
    socket.destroy()
    await waitUntil(() => setup.tunnels.length > 0)
    const [tunnel] = setup.tunnels
    assert.ok(tunnel && tunnel.bytesIn > 500 && tunnel.bytesOut > 200, JSON.stringify(tunnel))
    assert.deepEqual(setup.requests, [])
  })

  it('lets the client offer any protocol', async () => {
    await using setup = await openTestGate(tunnelling)
    const socket = await openTls(setup, 'a.example', { ALPNProtocols: ['h2', 'http/1.1'] })
    assert.equal(socket.alpnProtocol, 'http/1.1')
    socket.destroy()
  })

  it('is closed and reported when TLS names another server, or none', async () => {
    await using setup = await openTestGate(tunnelling)
    const another = openTls(setup, 'a.example', { servername: 'b.example' })
    await assert.rejects(another, /unrecognized name/)
    await assert.rejects(openTls(setup, 'a.example', { servername: '' }), /unrecognized name/)
    await assert.rejects(openTls(setup, 'a.example', { port: 8443, servername: 'b.example' }))
    assert.deepEqual(
      setup.refusals.map(({ host, port, reason }) => [host, port, reason]),
      [
        ['a.example', 443, 'mismatch'],
        ['a.example', 443, 'mismatch'],
        ['a.example', 8443, 'mismatch'],
      ],
    )
    await waitUntil(() => setup.tunnels.length === 3)
    assert.deepEqual(new Set(setup.tunnels.map(({ bytesOut }) => bytesOut)), new Set([0]))
  })

  it('takes a first message that came with the CONNECT, or piece by piece', async () => {
    await using setup = await openTestGate(tunnelling)
    const socket = await dialGate(setup.socketPath)
    const capture = createServer()
    const port = await listenOnFreePort(capture)
    const { connect: tls } = await import('node:tls')
    const client = tls({ host: '127.0.0.1', port, servername: 'a.example' })
    client.on('error', () => client.destroy())
    const [side] = await once(capture, 'connection')
    const [hello] = (await once(side, 'data')) as [Buffer]
    client.destroy()
    capture.close()
    const answer = collectUntil(socket, (text) => text.includes('\r\n\r\n\u0016\u0003'))
    const head = 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n'
    socket.write(Buffer.concat([Buffer.from(head), hello.subarray(0, 100)]))
    for (let at = 100; at < hello.length; at += 50) {
      socket.write(hello.subarray(at, at + 50))
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.match(await answer, /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('on the port of HTTPS takes nothing but TLS', async () => {
    await using setup = await openTestGate(tunnelling)
    const socket = await openTestTunnel(setup.socketPath, 'a.example:443')
    const answer = toTheEnd(socket)
    socket.write(get('a.example'))
    assert.equal(await answer, '\u0015\u0003\u0003\0\u0002\u0002x')
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['protocol'],
    )
  })

  it('on the port of HTTP is read, so that the Host header is held to the name', async () => {
    await using setup = await openTestGate(tunnelling)
    const socket = await openTestTunnel(setup.socketPath, 'a.example:80')
    assert.match(await askOver(socket, get('a.example')), /\r\n\r\nhello$/)
    assert.equal(setup.requests[0]?.url.href, 'http://a.example/')
    assert.match(await askOver(socket, get('b.example')), /^HTTP\/1\.1 421 /)
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['mismatch'],
    )
  })

  it('on another port passes whatever is spoken, whoever speaks first', async () => {
    const greeter = createServer({ allowHalfOpen: true }, (socket) => {
      socket.write('welcome\n')
      socket.pipe(socket)
    })
    const port = await listenOnFreePort(greeter)
    await using setup = await openTestGate({
      ...tunnelling,
      async dial() {
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
        await once(socket, 'connect')
        return socket
      },
    })
    const socket = await dialGate(setup.socketPath)
    const welcome = collectUntil(socket, (text) => text.endsWith('welcome\n'))
    socket.write('CONNECT a.example:9418 HTTP/1.1\r\n\r\n')
    await welcome
    const rest = toTheEnd(socket)
    socket.end('all of this, and an end')
    assert.equal(await rest, 'all of this, and an end')
    await waitUntil(() => setup.tunnels.length > 0)
    assert.equal(setup.tunnels[0]?.bytesOut, 23)
    assert.equal(setup.tunnels[0]?.bytesIn, 31)
    greeter.close()
  })

  it('waits for a slow reader, and delivers every byte', async () => {
    const size = 64 * 1024 * 1024
    let sent = 0
    const flood = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      const chunk = Buffer.alloc(64 * 1024, 7)
      const more = (): void => {
        while (sent < size) {
          sent += chunk.length
          if (!socket.write(chunk)) return void socket.once('drain', more)
        }
        socket.end()
      }
      more()
    })
    const port = await listenOnFreePort(flood)
    await using setup = await openTestGate({
      ...tunnelling,
      async dial() {
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
        await once(socket, 'connect')
        return socket
      },
    })
    const socket = await openTestTunnel(setup.socketPath, 'a.example:9000')
    socket.pause()
    let before = -1
    while (before !== sent) {
      before = sent
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(sent < 32 * 1024 * 1024, `${sent} bytes are on their way to nobody`)
    let came = 0
    socket.on('data', (chunk: Buffer) => {
      came += chunk.length
    })
    socket.resume()
    await once(socket, 'end')
    socket.end()
    await waitUntil(() => setup.tunnels.length > 0)
    assert.equal(setup.tunnels[0]?.bytesIn, size)
    // A first piece may have come with the answer to CONNECT.
    assert.ok(came > size - 128 * 1024, `${came} of ${sent}`)
    flood.close()
  })

  it('ends with the other side, and when nothing is said for long', async () => {
    await using setup = await openTestGate({ ...tunnelling, limits: { idleMs: 50 } })
    const socket = await openTestTunnel(setup.socketPath, 'a.example:8443')
    assert.equal(await toTheEnd(socket), '')
    await waitUntil(() => setup.tunnels.length > 0)
  })

  it('that the upstream ended first is over once the client has disconnected', async () => {
    const upstream = createServer((socket) => void socket.once('data', () => socket.end('bye')))
    const port = await listenOnFreePort(upstream)
    let outward: Socket | undefined
    await using setup = await openTestGate({
      ...tunnelling,
      async dial() {
        outward = connect(port, '127.0.0.1')
        await once(outward, 'connect')
        return outward
      },
    })
    const socket = await dialGate(setup.socketPath)
    const heard = toTheEnd(socket)
    socket.write('CONNECT a.example:8443 HTTP/1.1\r\n\r\nhello')
    assert.match(await heard, /\r\n\r\nbye$/)
    await waitUntil(() => outward?.closed === true)
    assert.deepEqual(setup.tunnels, [])
    socket.end('what nobody takes any more')
    await waitUntil(() => setup.tunnels.length === 1)
    upstream.close()
  })

  it('whose client says nothing is not kept', async () => {
    await using setup = await openTestGate({ ...tunnelling, limits: { helloMs: 50 } })
    for (const port of [443, 80]) {
      const socket = await openTestTunnel(setup.socketPath, `a.example:${port}`)
      socket.write('\u0016\u0003')
      assert.equal(await toTheEnd(socket), '')
    }
    assert.deepEqual(setup.refusals, [])
  })
})

describe('a connection that is read', () => {
  it('is refused and reported when TLS names another server', async () => {
    await using setup = await openTestGate()
    await assert.rejects(
      openTls(setup, 'a.example', { servername: 'b.example' }),
      /unrecognized name/,
    )
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['mismatch'],
    )
  })

  it('is refused and reported when the client speaks HTTP/2 alone', async () => {
    await using setup = await openTestGate()
    await assert.rejects(
      openTls(setup, 'a.example', { ALPNProtocols: ['h2'] }),
      /no application protocol/,
    )
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['protocol'],
    )
    const socket = await openTls(setup, 'a.example', { ALPNProtocols: ['h2', 'http/1.1'] })
    assert.equal(socket.alpnProtocol, 'http/1.1')
    socket.destroy()
  })

  it('may be in the clear, and its requests say so', async () => {
    await using setup = await openTestGate()
    const socket = await openTestTunnel(setup.socketPath, 'a.example:8080')
    assert.match(await askOver(socket, get('a.example:8080')), /\r\n\r\nhello$/)
    assert.equal(setup.requests[0]?.url.href, 'http://a.example:8080/')
    socket.destroy()
  })

  it('is not looked for in garbage that begins as TLS does', async () => {
    await using setup = await openTestGate()
    const socket = await openTestTunnel(setup.socketPath, 'a.example:443')
    const answer = toTheEnd(socket)
    socket.write(Buffer.concat([Buffer.of(22, 3, 1, 0, 200), Buffer.alloc(200, 255)]))
    assert.equal(await answer, '\u0015\u0003\u0003\0\u0002\u0002x')
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['protocol'],
    )
  })
})
