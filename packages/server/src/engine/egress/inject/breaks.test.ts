/** Upstreams that break off while their answer is not read. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { UpstreamListener } from '../fixture.ts'
import { connectTo, echo, upstreamServer } from '../fixture.ts'
import { bearerRow, openTestContext, secret } from './forward-fixture.ts'
import { createUpstream } from './upstream.ts'

const url = 'https://api.example/'

/** Waits until this process has noticed the broken connection. */
async function noticed(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** A call that waits for its audit row while its upstream breaks off. */
async function brokenMeanwhile(listener: UpstreamListener) {
  const gone = Promise.withResolvers<void>()
  const bench = await openTestContext([bearerRow(url)], (request, response) => {
    request.socket.once('close', () => gone.resolve())
    listener(request, response)
  })
  const disk = Promise.withResolvers<void>()
  bench.holdAudit(disk.promise)
  return { bench, gone: gone.promise, onDisk: () => disk.resolve() }
}

describe('an upstream that breaks off before its answer is passed on', () => {
  const half = Buffer.from(`${'x'.repeat(1000)}${secret}`)
  const ways: Record<string, UpstreamListener> = {
    'after a part of the body': (_request, response) => {
      response.writeHead(200, { 'content-length': '100000' })
      response.write(half, () => response.destroy())
    },
    'after a part that is compressed': (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '100000' })
      response.write(gzipSync(half).subarray(0, 30), () => response.destroy())
    },
  }
  for (const [way, listener] of Object.entries(ways)) {
    it(`fails its call and nothing else: ${way}`, async () => {
      const { bench, gone, onDisk } = await brokenMeanwhile(listener)
      await using _ = bench
      const answer = bench.ask(url)
      await gone
      await noticed()
      onDisk()
      await assert.rejects(answer)
      assert.deepEqual(
        bench.ended.map(({ status }) => status),
        [502],
      )
    })
  }

  it('fails its call and nothing else: after a switch of protocols', async () => {
    const { bench, onDisk } = await brokenMeanwhile(echo)
    await using _ = bench
    const gone = Promise.withResolvers<void>()
    let wire: Socket | undefined
    bench.server.server.on('connection', (socket: Socket) => {
      wire = socket.once('close', () => gone.resolve())
    })
    bench.server.server.on('upgrade', (_request, socket) => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
      socket.write(head, () => void noticed().then(() => wire?.resetAndDestroy()))
    })
    const answer = bench.upgrade(url, { headers: [['Upgrade', 'x']] })
    await gone.promise
    await noticed()
    onDisk()
    await assert.rejects(answer)
    assert.equal(bench.ended[0]?.status, 502)
  })
})

describe('an upstream that says nothing', () => {
  it('is given up as timed out; within a body it may pause', async () => {
    await using server = await upstreamServer((request, response) => {
      if (request.url === '/body') response.write('x')
    })
    const line = createUpstream(connectTo(server), { patienceMs: 100 })
    const { signal } = new AbortController()
    const sent = { method: 'GET', headers: [], body: null, signal }
    const { body } = await line.send({ ...sent, url: new URL(`${url}body`) })
    body.resume()
    await assert.rejects(line.send({ ...sent, url: new URL(url) }), {
      code: 'UND_ERR_HEADERS_TIMEOUT',
    })
    assert.equal(body.destroyed, false)
    await line.close()
  })
})

describe('an answer that is not passed on', () => {
  it('is dropped when its use cannot be written', async () => {
    const gone = Promise.withResolvers<void>()
    await using bench = await openTestContext([bearerRow(url)], (_request, response) => {
      response.once('close', () => gone.resolve())
      response.write('x')
    })
    const failed = Promise.reject(new Error('disk full'))
    failed.catch(() => {})
    bench.holdAudit(failed)
    await assert.rejects(bench.ask(url), /disk full/)
    await gone.promise
  })

  it('may break off when its reader has not begun', async () => {
    const arrived = Promise.withResolvers<() => void>()
    await using bench = await openTestContext([], (_request, response) => {
      response.write('x')
      arrived.resolve(() => response.destroy())
    })
    const { body } = await bench.ask(url)
    const closed = once(body, 'close').catch(() => undefined)
    ;(await arrived.promise)()
    await closed
    await noticed()
    await assert.rejects(text(body))
  })
})
