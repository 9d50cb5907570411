import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import type { GateWorld } from './gate-fixture.ts'
import {
  askOver,
  dialGate,
  waitUntil,
  answerTo,
  openTls,
  toTheEnd,
  collectUntil,
  openTestGate,
} from './gate-fixture.ts'
import type { OutboundAnswer } from './outbound.ts'
import { RequestRefused } from './outbound.ts'

const inside = (setup: GateWorld) => openTls(setup, 'a.example')
const answering = (answer: Partial<OutboundAnswer>) => ({
  forward: () =>
    Promise.resolve<OutboundAnswer>({
      status: 200,
      headers: [],
      body: Readable.from([]),
      ...answer,
    }),
})
const chunksOf = (text: string): number[] =>
  [...text.matchAll(/(?:^|\r\n)([\da-f]+)\r\n/g)].map(([, size = '']) => Number.parseInt(size, 16))

describe('a request within a tunnel', () => {
  it('goes to the owner with its headers in their order and case, but those of this hop', async () => {
    await using setup = await openTestGate()
    const socket = await inside(setup)
    const lines = ['POST /a%20b/../c?d=e HTTP/1.1', 'Host: A.Example', 'X-One: 1', 'x-two: 2']
    lines.push('X-One: 3', 'Connection: keep-alive, X-Private', 'X-Private: p', 'Keep-Alive: 5')
    lines.push('TE: trailers', 'Proxy-Authorization: Basic x', 'Proxy-Connection: close')
    lines.push('Authorization: Bearer placeholder', 'Content-Length: 2')
    assert.match(await askOver(socket, `${lines.join('\r\n')}\r\n\r\nhi`), /^HTTP\/1\.1 200 OK\r\n/)
    const [request] = setup.requests
    assert.equal(request?.method, 'POST')
    assert.equal(request?.url.href, 'https://a.example/c?d=e')
    assert.deepEqual(request?.headers, [
      ['X-One', '1'],
      ['x-two', '2'],
      ['X-One', '3'],
      ['Authorization', 'Bearer placeholder'],
      ['Content-Length', '2'],
    ])
    socket.destroy()
  })

  it('keeps its connection for the next', async () => {
    await using setup = await openTestGate()
    const socket = await inside(setup)
    for (let i = 0; i < 3; i++) {
      const answer = await askOver(socket, `GET /${i} HTTP/1.1\r\nHost: a.example:443\r\n\r\n`)
      assert.match(answer, /hello$/)
    }
    assert.equal(setup.requests.length, 3)
    assert.equal(setup.requests[0]?.body, null)
    socket.destroy()
  })

  it('whose Host or URL names another is answered 421, and reported', async () => {
    await using setup = await openTestGate()
    const wrong = ['/|b.example', '/|a.example:8443', '/|127.0.0.1', '/|a.example.b', '/|']
    wrong.push('https://b.example/|a.example', 'http://a.example/|a.example')
    wrong.push('https://a.example:8443/|a.example')
    for (const text of wrong) {
      const [url, host] = text.split('|')
      const socket = await inside(setup)
      const answer = await askOver(socket, `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 421 [^]*X-Egress-Error: mismatch\r\n/, text)
      socket.destroy()
    }
    assert.deepEqual(new Set(setup.refusals.map(({ reason }) => reason)), new Set(['mismatch']))
    assert.equal(setup.refusals.length, wrong.length)
    assert.deepEqual(setup.requests, [])
  })

  it('stays with its host however its path looks', async () => {
    await using setup = await openTestGate()
    const socket = await inside(setup)
    for (const path of [
      '//b.example/x',
      '/\\b.example',
      '/@b.example',
      '/..//b.example',
      '/%2f%2fb',
    ]) {
      await askOver(socket, `GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`)
    }
    await askOver(socket, 'GET https://a.example/whole HTTP/1.1\r\nHost: a.example\r\n\r\n')
    const hosts = setup.requests.map(({ url }) => url.origin)
    assert.deepEqual(hosts, Array(6).fill('https://a.example'))
    socket.destroy()
  })

  it('streams its body as it comes, and the answer as it goes', async () => {
    await using setup = await openTestGate({
      listener(request, response) {
        response.writeHead(200)
        response.flushHeaders()
        request.pipe(response)
      },
    })
    const socket = await inside(setup)
    const head = collectUntil(socket, (text) => text.includes('zero'))
    socket.write('POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.write('4\r\nzero\r\n')
    assert.match(await head, /^HTTP\/1\.1 200 OK\r\n[^]*Transfer-Encoding: chunked\r\n/i)
    for (const word of ['one', 'two']) {
      const echo = collectUntil(socket, (text) => text.includes(word))
      socket.write(`3\r\n${word}\r\n`)
      await echo
    }
    const end = collectUntil(socket, (text) => text.endsWith('0\r\n\r\n'))
    socket.write('0\r\nX-Trailer: dropped\r\n\r\n')
    await end
    assert.equal(setup.requests[0]?.headers.length, 0)
    socket.destroy()
  })

  it('is answered to continue when its body is read, and not before', async () => {
    await using setup = await openTestGate({
      async forward({ body }) {
        if (!body) throw new Error('no body')
        const [chunk] = await once(body, 'data')
        body.destroy()
        return { status: 200, headers: [['content-length', '3']], body: Readable.from([chunk]) }
      },
    })
    const socket = await inside(setup)
    const go = collectUntil(socket, (text) => text.includes('\r\n\r\n'))
    const head =
      'PUT / HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n'
    socket.write(head)
    assert.equal(await go, 'HTTP/1.1 100 Continue\r\n\r\n')
    assert.match(await askOver(socket, 'abc'), /^HTTP\/1\.1 200 [^]*\r\n\r\nabc$/)
    socket.destroy()
  })

  it('that is refused is not answered to continue', async () => {
    const refusal = { host: 'a.example', port: 443, reason: 'fenced', message: 'gone' } as const
    await using setup = await openTestGate({
      forward: () => Promise.reject(new RequestRefused(refusal)),
    })
    const socket = await inside(setup)
    const answer = toTheEnd(socket)
    socket.write(
      'PUT / HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n',
    )
    assert.match(await answer, /^HTTP\/1\.1 403 [^]*X-Egress-Error: fenced\r\n[^]*"message":"gone"/)
    assert.deepEqual(setup.refusals, [refusal])
  })

  it('may be answered before its body has come, and the next is then answered too', async () => {
    await using setup = await openTestGate({
      forward({ body, url }) {
        body?.destroy()
        const text = url.pathname
        const headers: OutboundAnswer['headers'] = [['content-length', String(text.length)]]
        return Promise.resolve({ status: 200, headers, body: Readable.from([Buffer.from(text)]) })
      },
    })
    const socket = await inside(setup)
    const first = 'POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 100000\r\n\r\n'
    assert.match(await askOver(socket, first), /\/first$/)
    socket.write(Buffer.alloc(100_000))
    assert.match(await askOver(socket, 'GET /next HTTP/1.1\r\nHost: a.example\r\n\r\n'), /\/next$/)
    socket.destroy()
  })

  it('aborts when its client goes away, before and after the head of the answer', async () => {
    for (const isEarly of [true, false]) {
      let body: Readable | undefined
      await using setup = await openTestGate({
        forward({ signal }) {
          body = new Readable({ read() {} })
          signal.addEventListener('abort', () => body?.destroy())
          if (!isEarly) return Promise.resolve({ status: 200, headers: [], body })
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error))
          })
        },
      })
      const socket = await inside(setup)
      const head = collectUntil(socket, (text) => text.includes('\r\n\r\n'))
      socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
      if (isEarly) await waitUntil(() => body !== undefined)
      else await head
      socket.destroy()
      await waitUntil(() => body?.destroyed === true)
    }
  })

  it('waits for a slow reader', async () => {
    let given = 0
    const body = new Readable({
      highWaterMark: 64 * 1024,
      read() {
        given += 65_536
        this.push(given > 64 * 1024 * 1024 ? null : Buffer.alloc(65_536))
      },
    })
    await using setup = await openTestGate(answering({ body }))
    const socket = await inside(setup)
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
    let before = -1
    while (before !== given || given === 0) {
      before = given
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(given < 16 * 1024 * 1024, `${given} bytes were taken for nobody`)
    socket.destroy()
    await waitUntil(() => body.destroyed)
  })
})

describe('an answer', () => {
  it('keeps its status and its headers, but those of its hop', async () => {
    await using setup = await openTestGate(
      answering({
        status: 418,
        headers: [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X-Hop', 'x'],
          ['Connection', 'X-Hop, close'],
          ['Keep-Alive', 'timeout=5'],
          ['Transfer-Encoding', 'chunked'],
          ['content-length', '4'],
        ],
        body: Readable.from([Buffer.from('tea!')]),
      }),
    )
    const socket = await inside(setup)
    const answer = await askOver(socket, 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
    const lines = answer.split('\r\n')
    assert.deepEqual(lines.slice(0, 4), [
      "HTTP/1.1 418 I'm a Teapot",
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'content-length: 4',
    ])
    assert.ok(!/X-Hop|timeout=5|chunked|Date/i.test(answer), answer)
    socket.destroy()
  })

  it('has no body after HEAD, 204 and 304, and the connection goes on', async () => {
    await using setup = await openTestGate({
      listener(request, response) {
        if (request.url === '/204') response.writeHead(204).end()
        else if (request.url === '/304') response.writeHead(304, { 'content-length': 9 }).end()
        else response.writeHead(200, { 'content-length': 5 }).end('hello')
      },
    })
    const socket = await inside(setup)
    for (const [method, path, status] of [
      ['HEAD', '/', 200],
      ['GET', '/204', 204],
      ['GET', '/304', 304],
    ] as const) {
      const answer = collectUntil(socket, (text) => text.endsWith('\r\n\r\n'))
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`)
      assert.match(await answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    }
    assert.match(await askOver(socket, 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'), /hello$/)
    socket.destroy()
  })

  it('shows its head at once, when its body takes long', async () => {
    await using setup = await openTestGate(answering({ body: new Readable({ read() {} }) }))
    const socket = await inside(setup)
    const head = collectUntil(socket, (text) => text.includes('\r\n\r\n'))
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
    assert.match(await head, /^HTTP\/1\.1 200 OK\r\n/)
    socket.destroy()
  })

  it('whose body breaks off is broken off', async () => {
    await using setup = await openTestGate({
      listener(_request, response) {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half', () => response.destroy())
      },
    })
    const socket = await inside(setup)
    const answer = toTheEnd(socket)
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
    assert.match(await answer, /\r\n\r\nhalf$/)
  })

  it('that could split the connection is not passed on', async () => {
    const secret = 'value\r\n\r\nHTTP/1.1 200 OK'
    await using setup = await openTestGate(answering({ headers: [['X-Bad', secret]] }))
    const socket = await inside(setup)
    const answer = await askOver(socket, 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 502 /)
    assert.ok(!answer.includes('X-Bad') && !answer.includes('value'))
    socket.destroy()
  })

  it('in chunks is in chunks', async () => {
    const parts = ['a', 'bc', 'def'].map((text) => Buffer.from(text))
    await using setup = await openTestGate(answering({ body: Readable.from(parts) }))
    const socket = await inside(setup)
    const answer = collectUntil(socket, (text) => text.endsWith('0\r\n\r\n'))
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')
    const [, body = ''] = (await answer).split(/\r\n\r\n(.*)/s)
    assert.deepEqual(chunksOf(body), [1, 2, 3, 0])
    socket.destroy()
  })
})

describe('a failure of the upstream', () => {
  it('is a 502 in a sentence that holds nothing of the request', async () => {
    const secret = 'Bearer very-secret'
    for (const [code, words] of [
      ['ENOTFOUND', /502 .*its name could not be resolved \(ENOTFOUND\)/s],
      ['UND_ERR_HEADERS_TIMEOUT', /504 .*did not answer in time/s],
      ['DEPTH_ZERO_SELF_SIGNED_CERT', /502 .*certificate is not valid/s],
      [secret, /502 .*the exchange with it failed"/s],
    ] as const) {
      const cause = Object.assign(new Error(secret), { code })
      await using setup = await openTestGate({
        forward: () => Promise.reject(new Error(secret, { cause })),
      })
      const socket = await inside(setup)
      const answer = await askOver(
        socket,
        `GET /?key=${secret.slice(7)} HTTP/1.1\r\nHost: a.example\r\nAuthorization: ${secret}\r\n\r\n`,
      )
      assert.match(answer, words)
      assert.ok(!answer.includes('very-secret'))
      assert.deepEqual(setup.refusals, [])
      socket.destroy()
    }
  })
})

describe('a request to the gate itself', () => {
  it('names an http URL, whose host is judged each time', async () => {
    let isOpen = true
    await using setup = await openTestGate({
      judge: () =>
        Promise.resolve(
          isOpen ? { kind: 'tunnel' } : { kind: 'refuse', reason: 'denied', message: 'no more' },
        ),
    })
    const socket = await dialGate(setup.socketPath)
    const request = 'GET http://A.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n'
    assert.match(await askOver(socket, request), /hello$/)
    assert.equal(setup.requests[0]?.url.href, 'http://a.example/x')
    isOpen = false
    assert.match(await askOver(socket, request), /^HTTP\/1\.1 403 [^]*"message":"no more"/)
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['denied'],
    )
    socket.destroy()
  })

  it('is refused for anything else', async () => {
    await using setup = await openTestGate()
    const wrong = ['/|a.example', 'https://a.example/|a.example', 'http://u:p@a.example/|a.example']
    wrong.push('ftp://a.example/|a.example', '*|a.example', 'http:///|a.example', 'http://[::1/|a')
    for (const text of wrong) {
      const [url, host] = text.split('|')
      const answer = await answerTo(
        setup.socketPath,
        `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      )
      assert.match(answer, /^HTTP\/1\.1 400 /, text)
    }
    const barred = [
      'http://127.1/|127.0.0.1',
      'http://[::1]/|[::1]',
      'http://a.example:25/|a.example',
    ]
    for (const text of [...barred, 'http://a.example/|b.example']) {
      const [url, host] = text.split('|')
      const answer = await answerTo(
        setup.socketPath,
        `GET ${url} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      )
      assert.match(answer, /^HTTP\/1\.1 (403|421) /, text)
    }
    assert.deepEqual(
      setup.refusals.map(({ reason }) => reason),
      ['bare_address', 'bare_address', 'port', 'mismatch'],
    )
    assert.deepEqual(setup.requests, [])
  })
})
