import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import type { Clock } from '@steward/base/time.ts'
import { dialServer, serveRoutes } from './fixture.ts'
import { streamReply } from './reply.ts'
import { route } from './route.ts'
import { keepStreamsAlive, sseFrame } from './sse.ts'
import type { TextPieces } from './bodies/write-body.ts'
import { stalledMs } from './bodies/write-body.ts'

const streaming = (path: string, frames: TextPieces) =>
  route(
    {
      method: 'get',
      path,
      callers: ['anyone'],
      section: 'Tests',
      summary: 'For tests',
      answer: 'stream',
    },
    async () => {
      return streamReply(frames)
    },
  )

/** Resolves when the signal aborts. */
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

const silent: TextPieces = async function* (signal) {
  await aborted(signal)
  yield ''
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

describe('a frame', () => {
  it('has an event line that every client knows, and an id only where there is a seq', () => {
    assert.equal(sseFrame('{"a":1}', 7), 'event: message\nid: 7\ndata: {"a":1}\n\n')
    assert.equal(sseFrame('{"a":1}'), 'event: message\ndata: {"a":1}\n\n')
    assert.equal(sseFrame('{}', 0), 'event: message\nid: 0\ndata: {}\n\n')
  })
})

describe('a stream', () => {
  it('sends its headers and a comment before there is anything to say', async () => {
    await using server = await serveRoutes([streaming('/s', silent)])
    const leaving = new AbortController()
    const answer = await fetch(`${server.url}/s`, { signal: leaving.signal })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.match(answer.headers.get('request-id') ?? '', /^req_/)
    const first = await answer.body?.getReader().read()
    assert.equal(Buffer.from(first?.value ?? []).toString(), ': open\n\n')
    leaving.abort()
  })

  it('ends when its frames do', async () => {
    await using server = await serveRoutes([
      streaming('/s', async function* () {
        yield sseFrame('1', 1)
        yield sseFrame('2', 2)
      }),
    ])
    const answer = await fetch(`${server.url}/s`)
    assert.equal(await answer.text(), `: open\n\n${sseFrame('1', 1)}${sseFrame('2', 2)}`)
  })

  it('shows a long text as it is, wherever its characters are cut', async () => {
    const long = sseFrame(`"${'x'.repeat(1024 * 1024 - 23)}${'😀'.repeat(1024 * 1024)}é"`, 1)
    await using server = await serveRoutes([
      streaming('/s', async function* () {
        yield `x${long}`
        yield long
      }),
    ])
    const text = await (await fetch(`${server.url}/s`)).text()
    assert.ok(text === `: open\n\nx${long}${long}`)
  })

  it('stops asking for frames when its reader goes away, and lets them clean up', async () => {
    const cleaned = Promise.withResolvers<string>()
    await using server = await serveRoutes([
      streaming('/s', async function* (signal) {
        try {
          yield sseFrame('1')
          await aborted(signal)
        } finally {
          cleaned.resolve('cleaned')
        }
      }),
    ])
    const socket = await dialServer(server.port, request('/s'))
    await once(socket, 'data')
    socket.destroy()
    assert.equal(await cleaned.promise, 'cleaned')
    assert.deepEqual(server.logged, [])
  })

  it('cleans up after a reader who disconnects while the stream is paused', async () => {
    const cleaned = Promise.withResolvers<string>()
    await using server = await serveRoutes([
      streaming('/s', async function* () {
        try {
          for (;;) yield sseFrame('x'.repeat(100_000))
        } finally {
          cleaned.resolve('cleaned')
        }
      }),
    ])
    const socket = await dialServer(server.port, request('/s'))
    await once(socket, 'data')
    socket.pause()
    await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    assert.equal(await cleaned.promise, 'cleaned')
    assert.deepEqual(server.logged, [])
  })

  it('is over at once for a reader who disconnects before it began', async () => {
    const ready = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const cleaned = Promise.withResolvers<string>()
    const frames: TextPieces = async function* (signal) {
      try {
        await aborted(signal)
        yield sseFrame('too late')
      } finally {
        cleaned.resolve('cleaned')
      }
    }
    await using server = await serveRoutes([
      route(
        {
          method: 'get',
          path: '/s',
          callers: ['anyone'],
          section: 'Tests',
          summary: 'For tests',
          answer: 'stream',
        },
        async ({ signal }) => {
          asked.resolve()
          await aborted(signal)
          await ready.promise
          return streamReply(frames)
        },
      ),
    ])
    const socket = await dialServer(server.port, request('/s'))
    await asked.promise
    socket.destroy()
    await once(socket, 'close')
    // The answer proves that the server has seen the other socket close.
    await (await fetch(`${server.url}/none`)).text()
    ready.resolve()
    assert.equal(await cleaned.promise, 'cleaned')
    assert.deepEqual(server.logged, [])
  })

  it('is held up by its own slow reader, and holds up no other', async () => {
    let made = 0
    const frames: TextPieces = async function* () {
      for (let n = 0; n < 1000; n++) {
        made++
        yield sseFrame('x'.repeat(100_000), n)
      }
    }
    await using server = await serveRoutes([
      streaming('/slow', frames),
      streaming('/fast', async function* () {
        for (let n = 0; n < 100; n++) {
          yield sseFrame(String(n), n)
          await new Promise((resolve) => setImmediate(resolve))
        }
      }),
    ])
    const slow = await dialServer(server.port, request('/slow'))
    await once(slow, 'data')
    slow.pause()
    const fast = await (await fetch(`${server.url}/fast`)).text()
    assert.equal(fast.match(/^id: /gm)?.length, 100)
    assert.ok(made < 900, `${made} frames were made for a reader that stands still`)
    let last = ''
    slow.on('data', (text: string) => (last = text.slice(-50)))
    slow.resume()
    while (!last.endsWith('0\r\n\r\n')) await once(slow, 'data')
    assert.equal(made, 1000)
    slow.destroy()
  })

  it('is ended when its reader takes nothing for a minute, and holds little until then', async () => {
    const cleaned = Promise.withResolvers<string>()
    const waits: number[] = []
    const stalled = Promise.withResolvers<void>()
    const minute = Promise.withResolvers<void>()
    const clock: Clock = {
      now: () => 0,
      sleep: async (ms, signal) => {
        waits.push(ms)
        const moved = aborted(signal)
        // The connection's own buffer drains first, and then nothing is taken.
        const quiet = setTimeout(() => stalled.resolve(), 300)
        await Promise.race([moved, minute.promise])
        clearTimeout(quiet)
      },
    }
    let made = 0
    const frames: TextPieces = async function* () {
      try {
        for (;;) {
          made += 10_000_000
          yield sseFrame('é'.repeat(5_000_000))
        }
      } finally {
        cleaned.resolve('cleaned')
      }
    }
    await using server = await serveRoutes([streaming('/s', frames)], { clock })
    const socket = await dialServer(server.port, request('/s'))
    await once(socket, 'data')
    socket.pause()
    await stalled.promise
    assert.ok(made <= 20_000_000, `${made} bytes were made for a reader that stands still`)
    minute.resolve()
    assert.equal(await cleaned.promise, 'cleaned')
    assert.equal(waits.at(-1), stalledMs)
    socket.resume().on('error', () => {})
    await once(socket, 'close')
    assert.deepEqual(server.logged, [])
  })

  it('cuts no character of a long frame', async () => {
    const text = '€'.repeat(300_000)
    await using server = await serveRoutes([
      streaming('/s', async function* () {
        yield sseFrame(text)
      }),
    ])
    const answer = await fetch(`${server.url}/s`)
    assert.equal(await answer.text(), `: open\n\n${sseFrame(text)}`)
  })

  it('breaks off, and is logged, when its frames fail', async () => {
    await using server = await serveRoutes([
      streaming('/s', async function* () {
        yield sseFrame('1')
        throw new Error('no more')
      }),
    ])
    await assert.rejects(fetch(`${server.url}/s`).then((answer) => answer.text()))
    const [record] = server.logged
    const { message, error } = JSON.parse(record ?? '') as {
      message: string
      error: { message: string }
    }
    assert.equal(message, 'a stream failed')
    assert.equal(error.message, 'no more')
  })

  it('is kept alive with comments while it is silent', async () => {
    await using server = await serveRoutes([streaming('/s', silent)])
    const socket = await dialServer(server.port, request('/s'))
    let text = ''
    socket.on('data', (piece: string) => (text += piece))
    while (!text.includes(': open')) await once(socket, 'data')
    keepStreamsAlive()
    while (!text.includes(': keep-alive\n\n')) await once(socket, 'data')
    socket.destroy()
  })

  it('does not hold the connection of a HEAD request', async () => {
    await using server = await serveRoutes([
      streaming('/s', silent),
      streaming('/t', async function* () {
        yield sseFrame('after')
      }),
    ])
    const socket = await dialServer(server.port, 'HEAD /s HTTP/1.1\r\nhost: x\r\n\r\n')
    let text = ''
    socket.on('data', (piece: string) => (text += piece))
    await once(socket, 'data')
    socket.write(request('/t'))
    while (!text.includes('after')) await once(socket, 'data')
    socket.destroy()
  })
})
