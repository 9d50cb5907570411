import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import {
  askOver,
  openTestTunnel,
  dialGate,
  waitUntil,
  answerTo,
  openTls,
  toTheEnd,
  collectUntil,
  openTestGate,
} from './gate-fixture.ts'
import { openGate } from './gate.ts'
import type { Outbound } from './outbound.ts'

const get = 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'

describe('what could be read in two ways', () => {
  const start = 'POST / HTTP/1.1\r\nHost: a.example\r\n'
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n'
  const cases: Record<string, string> = {
    'two kinds of length': `${start}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two kinds of length, in turn': `${start}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
    'two lengths': `${start}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
    'a list of lengths': `${start}Content-Length: 4, 4\r\n\r\nabcd`,
    'a signed length': `${start}Content-Length: +4\r\n\r\nabcd`,
    'a length in hex': `${start}Content-Length: 0x4\r\n\r\nabcd`,
    'a negative length': `${start}Content-Length: -4\r\n\r\nabcd`,
    'an unknown coding': `${start}Transfer-Encoding: identity\r\n\r\nabcd`,
    'a coding within a coding': `${start}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'two codings': `${start}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a coding in disguise': `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'a coding after a tab': `${start}Transfer-Encoding:\tchunked, identity\r\n\r\n0\r\n\r\n`,
    'a folded header': `${start}X-A: b\r\n c: d\r\n\r\n`,
    'a folded coding': `${start}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
    'a space before the colon': `${start}Content-Length : 4\r\n\r\nabcd`,
    'a space before the first header': `POST / HTTP/1.1\r\n Host: a.example\r\n\r\n`,
    'a header without a colon': `${start}nonsense\r\n\r\n`,
    'a bare carriage return': `${start}X-A: b\rContent-Length: 4\r\n\r\nabcd`,
    'bare line feeds': `POST / HTTP/1.1\nHost: a.example\n\n`,
    'a null in a value': `${start}X-A: b\0c\r\n\r\n`,
    'a null in a name': `${start}X\0A: b\r\n\r\n`,
    'a null in the path': `GET /a\0b HTTP/1.1\r\nHost: a.example\r\n\r\n`,
    'a chunk size beyond numbers': `${start}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n`,
    'a chunk that is too long': `${start}Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n`,
    'a chunk size with a sign': `${start}Transfer-Encoding: chunked\r\n\r\n-1\r\n${smuggled}`,
    'two hosts': `GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n`,
    'no host': `GET / HTTP/1.1\r\n\r\n`,
    'an old protocol': `GET /\r\n\r\n`,
    'an older request line': `GET / \r\nHost: a.example\r\n\r\n`,
    'another version': `GET / HTTP/3.0\r\nHost: a.example\r\n\r\n`,
    'an unknown method': `G\u0007T / HTTP/1.1\r\nHost: a.example\r\n\r\n`,
    'HTTP/2 with prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT in a tunnel': `CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n${smuggled}`,
    'a user in the host': `GET / HTTP/1.1\r\nHost: b.example@a.example\r\n\r\n`,
    'an asterisk': `OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n`,
  }
  for (const [name, bytes] of Object.entries(cases)) {
    it(`is refused: ${name}`, async () => {
      const whole: string[] = []
      await using setup = await openTestGate({
        async forward({ url, body }) {
          for await (const _chunk of body ?? []) continue
          whole.push(url.pathname)
          throw new Error('reached the upstream')
        },
      })
      const socket = await openTls(setup, 'a.example')
      const answer = toTheEnd(socket)
      socket.write(bytes, 'latin1')
      // A broken body after a valid head ends the exchange.
      assert.match(await answer, /^(HTTP\/1\.1 (4\d\d|50[12]) |$)/)
      assert.ok(!whole.includes('/smuggled'))
      if (!name.includes('chunk')) assert.deepEqual(whole, [])
    })
  }

  it('is not what follows a CONNECT in the same packet: that is the tunnel’s', async () => {
    const seen: Outbound[] = []
    await using setup = await openTestGate({
      forward(request) {
        seen.push(request)
        return Promise.reject(new Error('enough'))
      },
    })
    const bytes = `CONNECT a.example:80 HTTP/1.1\r\nHost: a.example:80\r\n\r\n${get}GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n`
    assert.match(await answerTo(setup.socketPath, bytes), /^HTTP\/1\.1 200 [^]*502 [^]*421 /)
    assert.deepEqual(
      seen.map(({ url }) => url.href),
      ['http://a.example/'],
    )
  })

  it('passes in no pipelined request unseen', async () => {
    await using setup = await openTestGate()
    const socket = await openTls(setup, 'a.example')
    const answer = toTheEnd(socket)
    socket.write(`${get}${get}GET / HTTP/1.1\r\nHost: b.example\r\n\r\n`)
    assert.match(await answer, /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 200 [^]*HTTP\/1\.1 421 /)
  })
})

describe('a hostile client', () => {
  it('gets 431 for headers beyond the limit, and reaches nobody', async () => {
    await using setup = await openTestGate({ limits: { headerBytes: 8192 } })
    const socket = await openTls(setup, 'a.example')
    const answer = toTheEnd(socket)
    socket.write(`GET / HTTP/1.1\r\nHost: a.example\r\nX: ${'x'.repeat(9000)}\r\n\r\n`)
    assert.match(await answer, /^HTTP\/1\.1 431 [^]*X-Egress-Error: invalid_request\r\n/)
    const outer = `CONNECT a.example:443 HTTP/1.1\r\nX: ${'x'.repeat(9000)}\r\n\r\n`
    assert.match(await answerTo(setup.socketPath, outer), /^HTTP\/1\.1 431 /)
    assert.deepEqual(setup.requests, [])
  })

  it('hides no header behind thousands of others', async () => {
    await using setup = await openTestGate()
    const socket = await openTls(setup, 'a.example')
    const many = 'a:\r\n'.repeat(5000)
    const bytes = `GET / HTTP/1.1\r\nHost: a.example\r\n${many}Host: b.example\r\n\r\n`
    assert.match(await askOver(socket, bytes), /^HTTP\/1\.1 400 /)
    assert.deepEqual(setup.requests, [])
    socket.destroy()
  })

  it('is not waited for when its headers never end, in a tunnel or before one', async () => {
    await using setup = await openTestGate({ limits: { headersMs: 60 } })
    const bytes = 'GET / HTTP/1.1\r\nHost: a.example\r\nX:'
    assert.match(await answerTo(setup.socketPath, bytes), /^HTTP\/1\.1 408 /)
    const socket = await openTls(setup, 'a.example')
    const answer = toTheEnd(socket)
    socket.write(bytes)
    assert.match(await answer, /^HTTP\/1\.1 408 /)
    const silent = await openTestTunnel(setup.socketPath, 'a.example:443')
    const end = toTheEnd(silent)
    const hello = Buffer.from(`160301${'00'.repeat(2)}`, 'hex')
    silent.write(hello)
    await end
  })

  it('is not kept when it never speaks, nor between two requests', async () => {
    await using setup = await openTestGate({ limits: { headersMs: 60, keepAliveMs: 60 } })
    const silent = await dialGate(setup.socketPath)
    await toTheEnd(silent)
    const socket = await openTls(setup, 'a.example')
    assert.match(await askOver(socket, get), /hello$/)
    await toTheEnd(socket)
  })

  it('is not waited for when it stops in a body, or stops to read', async () => {
    const endless = () => ({
      status: 200,
      headers: [],
      body: new Readable({
        read() {
          this.push(Buffer.alloc(65_536))
        },
      }),
    })
    let aborted = 0
    await using setup = await openTestGate({
      limits: { idleMs: 200 },
      forward({ url, signal }) {
        signal.addEventListener('abort', () => aborted++)
        return url.pathname === '/' ? new Promise(() => {}) : Promise.resolve(endless())
      },
    })
    const silent = await openTls(setup, 'a.example')
    silent.write('POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\nhalf')
    await toTheEnd(silent)
    const deaf = await openTestTunnel(setup.socketPath, 'a.example:80')
    deaf.pause()
    deaf.write('GET /endless HTTP/1.1\r\nHost: a.example\r\n\r\n')
    await waitUntil(() => aborted === 2)
    deaf.destroy()
  })

  it('that disconnects with more sent than anyone reads is detected', async () => {
    let waiting = 0
    await using setup = await openTestGate({
      limits: { idleMs: 200 },
      forward({ signal }) {
        waiting++
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            waiting--
            reject(signal.reason as Error)
          })
        })
      },
    })
    const socket = await openTestTunnel(setup.socketPath, 'a.example:80')
    socket.write('POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9000000\r\n\r\n')
    socket.write(Buffer.alloc(8_000_000))
    await waitUntil(() => waiting === 1)
    socket.destroy()
    await waitUntil(() => waiting === 0)
  })

  it('is waited for as long as something passes, however slowly', async () => {
    await using setup = await openTestGate({
      limits: { idleMs: 300 },
      listener(_request, response) {
        let left = 10
        const drip = setInterval(() => {
          if (left-- > 0) response.write('x')
          else response.end('y')
          if (left < 0) clearInterval(drip)
        }, 60)
      },
    })
    const socket = await openTls(setup, 'a.example')
    const answer = collectUntil(socket, (text) => text.endsWith('\r\n0\r\n\r\n'))
    socket.write(get)
    assert.match(await answer, /y\r\n0\r\n\r\n$/)
    socket.destroy()
  })

  it('gets no more connections than the limit', async () => {
    await using setup = await openTestGate({ limits: { connections: 3 } })
    const kept = await Promise.all(
      [1, 2, 3].map(() => openTestTunnel(setup.socketPath, 'a.example:80')),
    )
    const one = await dialGate(setup.socketPath)
    assert.equal(await toTheEnd(one), '')
    kept[0]?.destroy()
    await waitUntil(() => kept[0]?.closed === true)
    assert.match(await askOver(kept[1] ?? one, get), /hello$/)
    for (const socket of kept) socket.destroy()
  })

  it('gets no connection that its owner has no room for, and its own are given back', async () => {
    let room = 2
    const admit = () => (room > 0 ? (room--, () => void room++) : undefined)
    await using setup = await openTestGate({ admit })
    const kept = await Promise.all(
      [1, 2].map(() => openTestTunnel(setup.socketPath, 'a.example:80')),
    )
    assert.equal(room, 0)
    assert.equal(await toTheEnd(await dialGate(setup.socketPath)), '')
    assert.match(await askOver(kept[1] ?? (await dialGate(setup.socketPath)), get), /hello$/)
    for (const socket of kept) socket.destroy()
    await waitUntil(() => room === 2)
    const again = await openTestTunnel(setup.socketPath, 'a.example:80')
    again.destroy()
  })

  it('gets no more requests on their way than the limit', async () => {
    let waiting = 0
    await using setup = await openTestGate({
      limits: { requests: 5 },
      forward({ signal }) {
        waiting++
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            waiting--
            reject(signal.reason as Error)
          })
        })
      },
    })
    const socket = await openTls(setup, 'a.example')
    socket.write(get.repeat(20))
    await waitUntil(() => waiting === 5)
    const other = await openTls(setup, 'a.example')
    assert.match(await askOver(other, get), /^HTTP\/1\.1 503 [^]*X-Egress-Error: busy\r\n/)
    assert.equal(waiting, 5)
    socket.destroy()
    await waitUntil(() => waiting === 0)
    const next = await openTls(setup, 'a.example')
    next.write(get)
    await waitUntil(() => waiting === 1)
    next.destroy()
  })

  it('that disconnects with a body half sent, which nobody reads, breaks nothing', async () => {
    let hasBegun = false
    let isGone = false
    await using setup = await openTestGate({
      forward: ({ signal }) =>
        new Promise((_, reject) => {
          hasBegun = true
          signal.addEventListener('abort', () => {
            isGone = true
            reject(signal.reason as Error)
          })
        }),
    })
    const socket = await openTls(setup, 'a.example')
    socket.write('POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\nhalf')
    await waitUntil(() => hasBegun)
    socket.end()
    await waitUntil(() => isGone)
    const next = await openTls(setup, 'a.example')
    next.destroy()
  })

  it('has no connection turned into another kind while an answer is on its way', async () => {
    await using setup = await openTestGate({ forward: () => new Promise(() => {}) })
    const turns = ['CONNECT b.example:443 HTTP/1.1\r\n\r\n']
    turns.push(
      'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    )
    turns.push('\0garbage\r\n\r\n')
    for (const turn of turns) {
      const first = 'GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'
      assert.equal(await answerTo(setup.socketPath, first + turn), '')
    }
  })

  it('breaks nothing with garbage, wherever it comes', async () => {
    await using setup = await openTestGate({ limits: { headersMs: 300, helloMs: 1000 } })
    for (let i = 0; i < 40; i++) {
      const garbage = randomBytes(1 + i * 13)
      const outer = await dialGate(setup.socketPath)
      const clear = await openTestTunnel(setup.socketPath, 'a.example:80')
      const tls = await openTestTunnel(setup.socketPath, 'a.example:443')
      const secure = await openTls(setup, 'a.example')
      const all = [outer, clear, tls, secure]
      tls.write(Buffer.of(22, 3, 1))
      for (const socket of all) socket.write(garbage)
      if (i % 4) for (const socket of all) socket.destroy()
      else await Promise.all(all.map((socket) => toTheEnd(socket)))
    }
    const socket = await openTls(setup, 'a.example')
    assert.match(await askOver(socket, get), /hello$/)
    socket.destroy()
  })

  it('that disconnects at any moment does not keep a connection open', async () => {
    let open = 0
    await using setup = await openTestGate({
      listener(request, response) {
        open++
        response.on('close', () => open--)
        request.resume().on('error', () => response.destroy())
        response.write('x'.repeat(100_000))
      },
    })
    const bytes = `POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000\r\n\r\n${'y'.repeat(500)}`
    for (let i = 0; i < 30; i++) {
      const socket = await openTls(setup, 'a.example')
      socket.write(bytes.slice(0, i * 20))
      for (let turn = 0; turn < i % 7; turn++) await new Promise((resolve) => setImmediate(resolve))
      socket.destroy()
    }
    await waitUntil(() => open === 0)
  })
})

describe('a gate', () => {
  it('ends every connection when it closes, and takes its socket away', async () => {
    let hasAborted = false
    const setup = await openTestGate({
      judge: ({ port }) => Promise.resolve({ kind: port === 443 ? 'read' : 'tunnel' }),
      forward: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            hasAborted = true
            reject(signal.reason as Error)
          })
        }),
    })
    const idle = await dialGate(setup.socketPath)
    const read = await openTls(setup, 'a.example')
    read.write(get)
    const tunnel = await openTestTunnel(setup.socketPath, 'a.example:8443')
    const ends = [idle, read, tunnel].map((socket) => toTheEnd(socket))
    await setup.gate.close()
    await Promise.all(ends)
    await waitUntil(() => hasAborted && setup.tunnels.length === 1)
    assert.ok(!existsSync(setup.socketPath))
    await setup[Symbol.asyncDispose]()
  })

  it('is open to its owner alone, and replaces a dead gate, at a path of any length', async () => {
    await using setup = await openTestGate()
    for (const folder of [setup.folder, join(setup.folder, 'of-a-long-name'.repeat(15))]) {
      mkdirSync(folder, { recursive: true })
      const path = join(folder, 'left.sock')
      writeFileSync(path, '')
      const gate = await openGate({ path, authority: setup.authority, owner: setup.owner })
      assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.ok(statSync(path).isSocket())
      await gate.close()
      assert.ok(!existsSync(path))
    }
  })

  it('says so when its socket cannot be made', async () => {
    await using setup = await openTestGate()
    const path = join(setup.folder, 'missing', 'gate.sock')
    const opening = openGate({ path, authority: setup.authority, owner: setup.owner })
    await assert.rejects(opening, { syscall: 'listen' })
  })
})
