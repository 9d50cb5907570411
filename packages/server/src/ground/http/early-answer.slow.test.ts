import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { contentBody, plainBody } from './limits.ts'
import { dialServer, serveRoutes } from './fixture.ts'
import { discardLimits } from './early-answer.ts'
import { route } from './route.ts'

const about = { section: 'Tests', summary: 'For tests', method: 'post' } as const
const answer = z.looseObject({})
const body = z.looseObject({})
const plain = route(
  { ...about, path: '/plain', callers: ['workspace'], body, answer },
  async () => ({}),
)
const content = route(
  { ...about, path: '/content', callers: ['workspace'], body, answer, limits: contentBody },
  async () => ({}),
)

/** Sends the whole body before it reads a byte of the answer, as some clients do. */
async function sendFirst(port: number, path: string, { key = 'workspace', bytes = 0 }) {
  const socket = await dialServer(
    port,
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: ${bytes}\r\n\r\n`,
  )
  socket.pause()
  const piece = Buffer.alloc(1024 * 1024, ' ')
  for (let sent = 0; sent < bytes; sent += piece.length)
    if (!socket.write(piece.subarray(0, bytes - sent))) await once(socket, 'drain')
  let text = ''
  socket.on('data', (each: string) => (text += each))
  socket.resume()
  while (!/\r\n\r\n\{.*\}$/s.test(text)) await once(socket, 'data')
  socket.destroy()
  return text
}

describe('a body that is refused', () => {
  it('is read on, so that a caller who sends all of it first has the answer', async () => {
    await using server = await serveRoutes([plain, content])
    const bytes = contentBody.bytes + 8 * 1024 * 1024
    for (let round = 0; round < 3; round++) {
      assert.match(
        await sendFirst(server.port, '/content', { bytes }),
        /^HTTP\/1\.1 413 .*larger than 33554432 bytes/s,
      )
      assert.match(
        await sendFirst(server.port, '/plain', { bytes: 20 * plainBody.bytes }),
        /^HTTP\/1\.1 413 .*larger than 1048576 bytes/s,
      )
      assert.match(await sendFirst(server.port, '/plain', { bytes, key: 'no' }), /^HTTP\/1\.1 401 /)
      assert.match(await sendFirst(server.port, '/nowhere', { bytes }), /^HTTP\/1\.1 404 /)
    }
    assert.deepEqual(server.logged, [])
  })

  it('is not read for ever', async () => {
    await using server = await serveRoutes([plain])
    const sending = request(`${server.url}/plain`, {
      method: 'POST',
      headers: { 'x-api-key': 'workspace', 'transfer-encoding': 'chunked' },
    })
    let sent = 0
    const piece = Buffer.alloc(1024 * 1024, ' ')
    const closed = new Promise<void>((resolve) => {
      sending.once('error', () => resolve()).once('close', () => resolve())
    })
    let isClosed = false
    void closed.then(() => (isClosed = true))
    const answered = once(sending, 'response')
    while (!isClosed && sent < 3 * discardLimits.bytes) {
      sent += piece.length
      if (sending.write(piece)) continue
      await Promise.race([once(sending, 'drain'), closed])
    }
    const [{ statusCode }] = (await answered) as [{ statusCode: number }]
    assert.equal(statusCode, 413)
    assert.ok(sent < 2 * discardLimits.bytes, `${sent} bytes were read`)
  })
})

describe('the head of a request', () => {
  const status = async (port: number, head: string) => {
    const socket = await dialServer(port, `${head}\r\nconnection: close\r\n\r\n`)
    let text = ''
    socket.on('data', (each: string) => (text += each))
    await once(socket, 'close')
    return [/^HTTP\/1\.1 (\d+)/.exec(text)?.[1], /"message":"([^"]*)"/.exec(text)?.[1]]
  }

  it('is refused with two hosts', async () => {
    await using server = await serveRoutes([plain])
    for (const path of ['/plain', '/nowhere']) {
      const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nHOST: a\r\nx-api-key: workspace`
      assert.deepEqual(await status(server.port, head), ['400', 'Host: was sent twice'])
    }
  })

  it('is refused with a path that others would normalise', async () => {
    await using server = await serveRoutes([plain])
    const why = 'a path may not hold the segments . and ..'
    const paths = ['/x/../plain', '/%2e%2e/plain', '/x/.%2E/plain', '/./plain', '/plain/..']
    for (const path of [...paths, '/x/..?a=1', '//../plain']) {
      const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nx-api-key: workspace`
      assert.deepEqual(await status(server.port, head), ['400', why], path)
    }
    for (const path of ['/plain?at=../x', '/plain'])
      assert.equal(
        (await status(server.port, `POST ${path} HTTP/1.1\r\nhost: a\r\nx-api-key: workspace`))[0],
        '200',
      )
    const dotted = 'POST /v1/a..b/.c HTTP/1.1\r\nhost: a\r\nx-api-key: workspace'
    assert.equal((await status(server.port, dotted))[0], '404')
  })
})
