import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { Sealed } from '../../../ground/core/security/seal.ts'
import { echo } from '../fixture.ts'
import {
  bearerRow,
  readEcho,
  headerOf,
  openTestContext,
  placeholder,
  secret,
  variableRow,
} from './forward-fixture.ts'

describe('forwarding', () => {
  it('replaces every Authorization of the request by the credential', async () => {
    const got: string[][] = []
    await using bench = await openTestContext(
      [bearerRow('https://api.example/mcp')],
      (request, response) => {
        got.push(request.rawHeaders)
        response.end()
      },
    )
    const headers: HeaderPairs = [
      ['authorization', 'Bearer bogus'],
      ['AUTHORIZATION', 'Basic bogus'],
      ['Host', 'other.example'],
      ['X-Kept', 'yes'],
    ]
    const { body } = await bench.ask('https://api.example/x', { headers })
    body.resume()
    const sent = got[0] ?? []
    const pairs = sent.flatMap((name, i) => (i % 2 ? [] : [[name, sent[i + 1]]]))
    assert.deepEqual(
      pairs.filter(([name]) => /^(authorization|host|x-kept|accept-encoding)$/i.test(name ?? '')),
      [
        ['host', 'api.example'],
        ['X-Kept', 'yes'],
        ['Authorization', `Bearer ${secret}`],
        ['Accept-Encoding', 'identity'],
      ],
    )
  })

  it('masks the credential where the upstream echoes it, in heads and bodies', async () => {
    await using bench = await openTestContext(
      [bearerRow('https://api.example/mcp')],
      async (request, response) => {
        response.setHeader('x-echo', request.headers.authorization ?? '')
        await echo(request, response)
      },
    )
    const answer = await bench.ask('https://api.example/x')
    const shown = await text(answer.body)
    assert.deepEqual(headerOf(answer.headers, 'x-echo'), [`Bearer ${'*'.repeat(secret.length)}`])
    assert.ok(shown.includes(`Bearer ${'*'.repeat(secret.length)}`))
    assert.ok(!shown.includes('canary'))
    assert.deepEqual(headerOf(answer.headers, 'content-length'), [String(shown.length)])
  })

  it('reads what comes compressed all the same, and refuses what it cannot read', async () => {
    const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }
    await using bench = await openTestContext(
      [bearerRow('https://api.example/mcp')],
      (request, response) => {
        const encoding = request.url?.slice(1) ?? ''
        const body = Buffer.from(`<${secret}>`)
        response.setHeader('content-encoding', encoding)
        response.end(encoding in compress ? compress[encoding as 'gzip'](body) : body)
      },
    )
    for (const encoding of Object.keys(compress)) {
      const answer = await bench.ask(`https://api.example/${encoding}`)
      assert.equal(await text(answer.body), `<${'*'.repeat(secret.length)}>`)
      assert.deepEqual(headerOf(answer.headers, 'content-encoding'), [])
    }
    await assert.rejects(bench.ask('https://api.example/own'), /content encoding own/)
  })

  it('reads deflate without its head, in one piece, in many and broken off', async () => {
    const body = deflateRawSync(Buffer.from(`<${secret}>`.repeat(5_000)))
    const cuts: Record<string, number[]> = { '/whole': [], '/many': [0, 1, 2, 9], '/broken': [20] }
    await using bench = await openTestContext(
      [bearerRow('https://api.example/mcp')],
      (request, response) => {
        response.setHeader('content-encoding', 'deflate')
        response.flushHeaders()
        const ends = cuts[request.url ?? ''] ?? []
        ends.forEach((end, i) => response.write(body.subarray(ends[i - 1] ?? 0, end)))
        if (request.url === '/broken') setImmediate(() => response.destroy())
        else response.end(body.subarray(ends.at(-1) ?? 0))
      },
    )
    for (const path of ['whole', 'many']) {
      const answer = await bench.ask(`https://api.example/${path}`)
      assert.equal(await text(answer.body), `<${'*'.repeat(secret.length)}>`.repeat(5_000))
    }
    await assert.rejects(async () => text((await bench.ask('https://api.example/broken')).body))
  })

  it('asks for no part of an answer where a secret was added, and passes the wish on elsewhere', async () => {
    const headers: HeaderPairs = [
      ['RANGE', 'bytes=3-9'],
      ['If-Range', '"x"'],
    ]
    for (const [url, expected] of [
      ['https://api.example/mcp', [undefined, undefined]],
      ['https://other.example/', ['bytes=3-9', '"x"']],
    ] as const) {
      await using bench = await openTestContext([bearerRow(url)])
      const { headers: seen } = await readEcho(bench.ask('https://api.example/x', { headers }))
      assert.deepEqual([seen['range'], seen['if-range']], expected)
    }
  })

  it('refuses what was compressed more often than once, and finds the encoding among several', async () => {
    let headers: string[] = []
    await using bench = await openTestContext(
      [bearerRow('https://api.example/mcp')],
      (_request, response) => {
        response.writeHead(
          200,
          headers.flatMap((value) => ['content-encoding', value]),
        )
        response.end(gzipSync(`<${secret}>`))
      },
    )
    for (headers of [['identity', 'gzip'], ['identity, gzip'], ['', 'GZIP']]) {
      const answer = await bench.ask('https://api.example/')
      assert.equal(await text(answer.body), `<${'*'.repeat(secret.length)}>`)
    }
    for (headers of [['gzip', 'gzip'], ['gzip, br'], ['identity', 'own']]) {
      await assert.rejects(bench.ask('https://api.example/'), /content encoding/)
    }
  })

  it('forwards requests without a credential unchanged', async () => {
    await using bench = await openTestContext(
      [bearerRow('https://other.example/')],
      (request, response) => {
        response.setHeader('content-encoding', 'gzip')
        response.end(gzipSync(request.headers['accept-encoding'] ?? ''))
      },
    )
    const headers: HeaderPairs = [
      ['Authorization', 'Bearer own'],
      ['Accept-Encoding', 'gzip'],
    ]
    const answer = await bench.ask('https://api.example/', { headers })
    assert.deepEqual(headerOf(answer.headers, 'content-encoding'), ['gzip'])
    answer.body.resume()
    assert.deepEqual(bench.used, [])
  })

  it('exchanges placeholders only where the credential allows, and masks the secret', async () => {
    const headers: HeaderPairs = [['X-Key', placeholder]]
    const body = Buffer.from(`{"key":"${placeholder}"}`)
    const length: HeaderPairs = [['Content-Length', String(body.length)]]
    const hosts = [
      { header: true, body: false },
      { header: false, body: true },
    ]
    for (const setup of hosts) {
      const got: { header: string; body: string; length: string | undefined }[] = []
      await using bench = await openTestContext([variableRow(setup)], async (request, response) => {
        const [header, body] = [String(request.headers['x-key']), await text(request)]
        got.push({ header, body, length: request.headers['content-length'] })
        response.end(`${Buffer.from(header, 'latin1').toString()} ${body}`)
      })
      const asked = {
        method: 'POST',
        headers: [...headers, ...length],
        body: Readable.from([body]),
      }
      const answer = await bench.ask('https://api.example/', asked)
      const shown = await text(answer.body)
      const real = Buffer.from('canary-variable-é')
      const stars = '*'.repeat(real.length)
      const inHeader = setup.header ? stars : placeholder
      const inBody = setup.body ? stars : placeholder
      assert.equal(shown, `${inHeader} {"key":"${inBody}"}`)
      assert.equal(got[0]?.header, setup.header ? real.toString('latin1') : placeholder)
      const text1 = `{"key":"${setup.body ? real.toString() : placeholder}"}`
      assert.equal(got[0]?.body, text1)
      assert.equal(got[0]?.length, String(Buffer.byteLength(text1)))
      assert.deepEqual(
        bench.used.map(({ id }) => id),
        ['vcrd_v'],
      )
    }
  })

  it('exchanges placeholders in a body of unknown length as it streams', async () => {
    const row = variableRow({ header: true, body: true })
    await using bench = await openTestContext([row], async (request, response) => {
      assert.equal(request.headers['transfer-encoding'], 'chunked')
      const body = await text(request)
      response.end(String(body.length))
    })
    const body = new PassThrough()
    const answer = bench.ask('https://api.example/', { method: 'POST', body })
    const times = 20_000
    for (let i = 0; i < times; i++) body.write(`${placeholder}\n`)
    body.end()
    assert.equal(await text((await answer).body), String(times * 'canary-variable-é\n'.length))
  })

  it('follows no redirect', async () => {
    await using bench = await openTestContext(
      [bearerRow('https://api.example/')],
      (_request, response) => {
        response.writeHead(302, { location: 'https://other.example/' }).end()
      },
    )
    const answer = await bench.ask('https://api.example/')
    answer.body.resume()
    assert.equal(answer.status, 302)
    assert.equal(bench.server.connections(), 1)
  })

  // verifies: audit/uses/first
  it('passes no answer on before the use is on disk', async () => {
    await using bench = await openTestContext([bearerRow('https://api.example/')])
    const disk = Promise.withResolvers<void>()
    bench.holdAudit(disk.promise)
    const asked = once(bench.server.server, 'request')
    const order: string[] = []
    const answer = bench.ask('https://api.example/').then(({ body }) => {
      order.push('answer')
      body.resume()
    })
    await asked
    await new Promise((resolve) => setImmediate(resolve))
    order.push('disk')
    disk.resolve()
    await answer
    assert.deepEqual(order, ['disk', 'answer'])
  })

  it('gives no answer when the use cannot be written', async () => {
    await using bench = await openTestContext([bearerRow('https://api.example/')])
    const failed = Promise.reject(new Error('disk full'))
    failed.catch(() => {})
    bench.holdAudit(failed)
    await assert.rejects(bench.ask('https://api.example/'), /disk full/)
  })

  it('holds the upstream back while nobody reads, and lets it go when the reader disconnects', async () => {
    let written = 0
    const gone = Promise.withResolvers<void>()
    await using bench = await openTestContext(
      [bearerRow('https://api.example/')],
      (_request, response) => {
        response.once('close', () => gone.resolve())
        const fill = () => {
          while (written < 64 * 1024 * 1024) {
            written += 65_536
            if (!response.write(Buffer.alloc(65_536, 'x'))) return void response.once('drain', fill)
          }
        }
        fill()
      },
    )
    const { body } = await bench.ask('https://api.example/')
    await once(body, 'readable')
    // Several turns of the loop, in which an unbounded reader would have taken everything.
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
    assert.ok(written < 32 * 1024 * 1024, String(written))
    body.destroy()
    await gone.promise
  })

  it('ends the call when the caller goes away, before the head and after it', async () => {
    const arrived = Promise.withResolvers<void>()
    const left: Promise<unknown>[] = []
    await using bench = await openTestContext([], (request, response) => {
      left.push(once(response, 'close'))
      if (request.url === '/head') response.write('x')
      arrived.resolve()
    })
    const early = new AbortController()
    const answer = bench.ask('https://api.example/', { signal: early.signal })
    await arrived.promise
    early.abort(new Error('gone'))
    await assert.rejects(answer, /gone/)
    const late = new AbortController()
    const { body } = await bench.ask('https://api.example/head', { signal: late.signal })
    late.abort(new Error('gone'))
    await assert.rejects(text(body), /gone/)
    await Promise.all(left)
    assert.deepEqual(
      bench.ended.map(({ status }) => status),
      [499, 200],
    )
  })

  it('reports an upstream that resets, and one that breaks off within the body', async () => {
    await using bench = await openTestContext(
      [bearerRow('https://api.example/')],
      (request, response) => {
        if (request.url === '/reset') return void request.socket.destroy()
        response.writeHead(200, { 'content-length': '100' }).write('half')
        setImmediate(() => response.destroy())
      },
    )
    await assert.rejects(bench.ask('https://api.example/reset'))
    const { body } = await bench.ask('https://api.example/half')
    await assert.rejects(text(body))
    assert.deepEqual(bench.used[0]?.ended?.status, 502)
  })

  it('passes trailers’ answers and early hints without stumbling', async () => {
    await using bench = await openTestContext([], (_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      response.writeHead(200, { trailer: 'x-sum' })
      response.write('body')
      response.addTrailers({ 'x-sum': '1' })
      response.end()
    })
    const answer = await bench.ask('https://api.example/')
    assert.equal(answer.status, 200)
    assert.equal(await text(answer.body), 'body')
    assert.deepEqual(headerOf(answer.headers, 'trailer'), [])
  })

  it('records each call once, with its owner and its end', async () => {
    await using bench = await openTestContext([bearerRow('https://api.example/')])
    await readEcho(bench.ask('https://api.example/', { method: 'PUT', body: Buffer.from('x') }))
    bench.context.rules.judge = (url) => {
      throw new RequestRefused({ host: url.hostname, port: 443, reason: 'denied', message: 'no' })
    }
    await assert.rejects(bench.ask('https://api.example/'), RequestRefused)
    const about = {
      tenant: 'wrkspc_1',
      session: 'sesn_1',
      caller: 'rpc-outbound',
      server: 'api.example',
      host: 'api.example',
      refreshed: false,
    }
    assert.deepEqual(
      bench.ended.map(({ ms: _, ...rest }) => rest),
      [
        { ...about, method: 'PUT', status: 200 },
        { ...about, method: 'GET', status: 403 },
      ],
    )
  })

  it('refuses when the vault cannot be read, and sends nothing', async () => {
    const row = { ...bearerRow('https://api.example/'), sealed: { token: 'broken' as Sealed } }
    await using bench = await openTestContext([row])
    await assert.rejects(bench.ask('https://api.example/'), (error: RequestRefused) => {
      assert.equal(error.refusal.reason, 'vault')
      return true
    })
    assert.equal(bench.server.connections(), 0)
    assert.equal(bench.ended[0]?.status, 503)
  })

  it('passes a switch of protocols, with the credential in and its echo masked', async () => {
    await using bench = await openTestContext([bearerRow('https://api.example/')])
    bench.server.server.on('upgrade', (request, socket) => {
      const { authorization, upgrade } = request.headers
      assert.equal(request.headers['sec-websocket-extensions'], undefined)
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${upgrade}\r\n` +
          `x-echo: ${authorization}\r\n\r\n`,
      )
      socket.write(`${authorization}|`)
      socket.pipe(socket)
    })
    const headers: HeaderPairs = [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Extensions', 'permessage-deflate'],
    ]
    const switched = await bench.upgrade('https://api.example/ws', { headers })
    assert.ok('socket' in switched)
    const masked = `Bearer ${'*'.repeat(secret.length)}`
    assert.deepEqual(headerOf(switched.headers, 'x-echo'), [masked])
    const { socket } = switched
    socket.write('ping')
    let got = switched.head.toString()
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      got += chunk.toString()
      if (got.endsWith('ping')) break
    }
    assert.equal(got, `${masked}|ping`)
    assert.equal(bench.ended[0]?.status, 101)
  })

  it('passes the answer of an upstream that does not switch', async () => {
    await using bench = await openTestContext([], (_request, response) => {
      response.writeHead(426).end('no')
    })
    bench.server.server.on('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 2\r\n\r\nno')
    })
    const answer = await bench.upgrade('https://api.example/ws', {
      headers: [['Upgrade', 'websocket']],
    })
    assert.ok('body' in answer)
    assert.equal(answer.status, 426)
    assert.equal(await text(answer.body), 'no')
  })
})
