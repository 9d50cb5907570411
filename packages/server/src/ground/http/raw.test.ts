import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dialServer, serveRoutes } from './fixture.ts'
import { readForm } from './bodies/form.ts'
import { emptyReply } from './reply.ts'
import type { RawRequest } from './route.ts'
import { rawRoute } from './route.ts'
import { serverTimeouts } from './server.ts'

const about = { callers: ['anyone'], section: 'Tests', summary: 'For tests' } as const

const raw = (
  run: (raw: RawRequest) => {
    status?: number
    headers?: [string, string][]
    body: Readable
  },
) =>
  rawRoute({ ...about, method: 'post', path: '/v1/raw' }, async (_call, given) => ({
    reply: 'raw',
    status: 200,
    headers: [],
    ...run(given),
  }))

describe('a raw route', () => {
  it('passes bytes through as they come, both ways', async () => {
    const seen: RawRequest[] = []
    const echo = raw((given) => {
      seen.push(given)
      assert.ok(given.body)
      return {
        status: 207,
        headers: [
          ['X-Twice', 'a'],
          ['X-Twice', 'b'],
        ],
        body: given.body,
      }
    })
    await using server = await serveRoutes([echo])
    const bytes = Buffer.from([0, 255, 128, 10, 13])
    const answer = await fetch(`${server.url}/v1/raw`, {
      method: 'POST',
      headers: { 'X-Case': 'kept' },
      body: bytes,
    })
    assert.equal(answer.status, 207)
    assert.equal(answer.headers.get('x-twice'), 'a, b')
    assert.match(answer.headers.get('request-id') ?? '', /^req_/)
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes)
    assert.equal(seen[0]?.method, 'POST')
    assert.ok(seen[0]?.headers.some(([, value]) => value === 'kept'))
  })

  it('has no body where none was sent', async () => {
    const bodies: unknown[] = []
    const route = raw(({ body }) => {
      bodies.push(body)
      return { body: Readable.from([]) }
    })
    await using server = await serveRoutes([route])
    const socket = await dialServer(
      server.port,
      'POST /v1/raw HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    )
    await once(socket.resume(), 'end')
    assert.deepEqual(bodies, [null])
  })

  it('gets an error when it reads the body of a caller that has disconnected, and its server goes on', async () => {
    const refused: string[] = []
    const reads: ((given: RawRequest) => Promise<unknown>)[] = [
      ({ json }) => json(),
      ({ body }) =>
        readForm({ contentType: 'multipart/form-data; boundary=x', body }, async () => undefined),
      async ({ body }) => body && buffer(body),
    ]
    const { promise: done, resolve: end } = Promise.withResolvers<void>()
    let asked = 0
    const late = rawRoute({ ...about, method: 'post', path: '/v1/late' }, async (_call, given) => {
      const read = reads[asked++ % reads.length]
      if (!given.signal.aborted) await once(given.signal, 'abort')
      await sleep(1)
      await read?.(given).catch((error: Error) => refused.push(error.message))
      if (refused.length === 2 * reads.length) end()
      return emptyReply(204)
    })
    await using server = await serveRoutes([late])
    // With length 100 the body is incomplete; with length 1 it has arrived and nobody has read it.
    for (const length of [100, 1]) {
      for (const _ of reads) {
        const before = asked
        const head = `POST /v1/late HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n{`
        const socket = await dialServer(server.port, head)
        while (asked === before) await sleep(1)
        socket.destroy()
      }
    }
    await done
    assert.deepEqual(
      refused,
      Array.from(refused, () => 'the body broke off'),
    )
  })

  it('passes each piece on at once, however long the body is silent between', async () => {
    const body = new PassThrough()
    await using server = await serveRoutes([raw(() => ({ body }))], {
      limits: { ...serverTimeouts, timeout: 100 },
    })
    const answer = await fetch(`${server.url}/v1/raw`, { method: 'POST' })
    const reader = answer.body?.getReader()
    const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      body.write(piece)
      assert.equal(await next(), piece)
      await sleep(300)
    }
    body.end()
    assert.equal(await next(), '')
  })

  it('ends the body when its reader goes away, and says so to whoever answers', async () => {
    const body = new PassThrough()
    const aborted = Promise.withResolvers<void>()
    const route = raw(({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      return { body }
    })
    await using server = await serveRoutes([route])
    const leave = new AbortController()
    await fetch(`${server.url}/v1/raw`, { method: 'POST', signal: leave.signal })
    const closed = once(body, 'close')
    leave.abort()
    await Promise.all([closed, aborted.promise])
    assert.deepEqual(server.logged, [])
  })

  it('is read to its end by the caller where it comes before the body has', async () => {
    const early = raw(({ body }) => {
      body?.destroy()
      return { status: 413, body: Readable.from(['too much']) }
    })
    await using server = await serveRoutes([early])
    const socket = await dialServer(
      server.port,
      'POST /v1/raw HTTP/1.1\r\nhost: x\r\ncontent-length: 8000000\r\n\r\n',
    )
    let got = ''
    socket.on('data', (text: string) => void (got += text))
    for (let i = 0; i < 80; i++) {
      if (!socket.write('x'.repeat(100_000))) await once(socket, 'drain')
    }
    while (!got.endsWith('0\r\n\r\n')) await once(socket, 'data')
    assert.match(got, /^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  it('breaks off where the body does, so that it is not taken for whole', async () => {
    const body = new PassThrough()
    await using server = await serveRoutes([raw(() => ({ body }))])
    const answer = await fetch(`${server.url}/v1/raw`, { method: 'POST' })
    body.write('half')
    body.destroy(new Error('the upstream went away'))
    await assert.rejects(answer.text())
  })

  it('answers HEAD by its head alone, and the connection goes on', async () => {
    const body = new PassThrough()
    const route = rawRoute({ ...about, method: 'get', path: '/v1/raw' }, async () => ({
      ...{ reply: 'raw', status: 200, headers: [['Content-Length', '5']] },
      body: body.destroyed ? Readable.from('whole') : body,
    }))
    await using server = await serveRoutes([route])
    const socket = await dialServer(server.port, 'HEAD /v1/raw HTTP/1.1\r\nhost: x\r\n\r\n')
    let got = ''
    socket.on('data', (piece: string) => (got += piece))
    while (!got.endsWith('\r\n\r\n')) await once(socket, 'data')
    assert.match(got, /^HTTP\/1\.1 200 .*content-length: 5\r\n/is)
    assert.ok(body.destroyed)
    socket.write('GET /v1/raw HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    await once(socket, 'close')
    assert.ok(got.endsWith('\r\n\r\nwhole'), got)
  })
})
