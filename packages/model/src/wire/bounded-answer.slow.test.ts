import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { stubKey, readModelAnswer, userText } from '../stubs/read-answer.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { googleDialect } from '../stubs/stub-google.ts'
import { openaiChatDialect } from '../stubs/stub-openai-chat.ts'
import { openaiResponsesDialect } from '../stubs/stub-openai-responses.ts'
import type { StubDialect } from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'
import { answerLimits, eventSplitter, RefusedAnswer } from './bounded-answer.ts'

const wires: Record<string, StubDialect> = {
  'anthropic-messages': anthropicDialect,
  'openai-completions': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  'google-generative-ai': googleDialect,
}

type TestResponse = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>

/** An endpoint with any answer. */
async function hostile(answer: TestResponse) {
  const server = createServer((request, response) => {
    request.resume()
    void answer(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends the same piece until the caller disconnects or `most` bytes are sent. Resolves with the number of bytes. */
async function pour(response: ServerResponse, piece: Buffer, most: number): Promise<number> {
  let sent = 0
  function* pieces() {
    for (; sent < most; sent += piece.length) yield piece
  }
  await pipeline(Readable.from(pieces()), response).catch(() => {})
  return sent
}

async function ask(api: string, base_url: string, more: object = {}) {
  const spec = { provider: 'acme', api, model: 'm', base_url, api_key: stubKey, ...more }
  const { last } = await readModelAnswer(openModel(spec), [userText('Hi')])
  assert.ok(last?.type === 'failed', `${api} did not fail`)
  assert.ok(last.failure.message.length < 2_100, `${api} said too much`)
  assert.ok(!last.failure.message.includes(stubKey))
  return last.failure
}

const stream = { 'content-type': 'text/event-stream' }
const mebibyte = Buffer.alloc(1024 * 1024, 'x')

for (const [api, dialect] of Object.entries(wires)) {
  void describe(`an endpoint of ${api} that does not stop`, () => {
    void it('is given up after 64 KiB of an error', async () => {
      const sent = Promise.withResolvers<number>()
      await using endpoint = await hostile(async (response) => {
        response.writeHead(400, { 'content-type': 'application/json' })
        sent.resolve(await pour(response, mebibyte, 2 ** 30))
      })
      const failure = await ask(api, endpoint.url)
      assert.deepEqual([failure.kind, failure.status], ['request_failed', 400])
      assert.ok((await sent.promise) < 16 * mebibyte.length)
    })

    void it('is given up in the midst of an event that does not end', async () => {
      const sent = Promise.withResolvers<number>()
      await using endpoint = await hostile(async (response) => {
        response.writeHead(200, stream).write('data: {"text":"')
        sent.resolve(await pour(response, mebibyte, 2 ** 30))
      })
      const failure = await ask(api, endpoint.url)
      assert.deepEqual([failure.kind, failure.retryable], ['request_failed', false])
      assert.match(failure.message, /an event of more than 2097152 bytes/)
      assert.ok((await sent.promise) < 32 * mebibyte.length)
    })

    void it('is given up when few packed bytes become many', async () => {
      const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024, 'x'))
      const packed = { 'content-encoding': 'gzip' }
      await using endpoint = await hostile((response, { url }) => {
        const isError = url?.startsWith('/error') ?? false
        response.writeHead(isError ? 500 : 200, { ...stream, ...packed }).end(bomb)
      })
      const before = process.memoryUsage().rss
      assert.match((await ask(api, endpoint.url)).message, /more than 2097152 bytes/)
      assert.equal((await ask(api, `${endpoint.url}/error`)).status, 500)
      assert.ok(process.memoryUsage().rss - before < 200 * 1024 * 1024)
    })

    void it('is given up when it sends one byte after the other', async () => {
      await using endpoint = await hostile(async (response) => {
        response.writeHead(200, stream)
        while (!response.destroyed) {
          response.write(':')
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
      })
      const failure = await ask(api, endpoint.url, { idleTimeoutMs: 200 })
      assert.deepEqual([failure.kind, failure.retryable], ['unreachable', true])
      assert.match(failure.message, /sent nothing for 0\.2 s/)
    })

    void it('is waited for while it sends pings', async () => {
      await using endpoint = await hostile(async (response) => {
        response.writeHead(200, stream)
        for (let n = 0; n < 8 && !response.destroyed; n++) {
          response.write(': ping\n\n')
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        response.end()
      })
      const failure = await ask(api, endpoint.url, { idleTimeoutMs: 400 })
      assert.doesNotMatch(failure.message, /sent nothing/)
    })

    void it('is not followed elsewhere, and no key goes there', async () => {
      let asked = 0
      await using elsewhere = await hostile((response) => {
        asked++
        response.end()
      })
      for (const status of [301, 302, 307, 308]) {
        await using endpoint = await hostile((response) => {
          response.writeHead(status, { location: `${elsewhere.url}/${'x'.repeat(5_000)}` }).end()
        })
        const failure = await ask(api, endpoint.url)
        assert.deepEqual([failure.kind, failure.retryable], ['request_failed', false])
        assert.match(failure.message, /redirect \(\d+\) to http:\/\/127\.0\.0\.1:\d+, which/)
      }
      assert.equal(asked, 0)
    })

    void it('says that a page is no answer', async () => {
      await using endpoint = await hostile((response) => {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        void pour(response, mebibyte, 2 ** 30)
      })
      const failure = await ask(api, endpoint.url)
      assert.match(failure.message, /a page \(text\/html\).*base_url/)
    })

    void it('says what an error in the midst of a good answer says, and not more', async () => {
      const long = `no more ${'y'.repeat(100_000)} ${stubKey}`
      const error = dialect.error(500, 'api_error', long).replaceAll('\n', '')
      const events: Record<string, string> = {
        'anthropic-messages': `event: error\ndata: ${error}\n\n`,
        'google-generative-ai': error,
      }
      await using endpoint = await hostile((response) => {
        response.writeHead(200, stream).end(events[api] ?? `data: ${error}\n\n`)
      })
      assert.match((await ask(api, endpoint.url)).message, /no more y+…$/)
    })
  })
}

void describe('an event of many parts', () => {
  const api = 'google-generative-ai'
  async function askGoogle(parts: string[]) {
    const content = `{"content":{"parts":[${parts.join(',')}]},"finishReason":"STOP"}`
    await using endpoint = await hostile((response) => {
      response.writeHead(200, stream).end(`data: {"candidates":[${content}]}\n\n`)
    })
    const spec = { provider: 'acme', api, model: 'm', base_url: endpoint.url, api_key: stubKey }
    const began = performance.now()
    const delays = monitorEventLoopDelay({ resolution: 10 })
    delays.enable()
    const { last } = await readModelAnswer(openModel(spec), [userText('Hi')])
    delays.disable()
    return { last, tookMs: performance.now() - began, heldMs: delays.max / 1e6 }
  }
  const calls = (count: number) =>
    Array.from({ length: count }, (_, n) => `{"functionCall":{"name":"f","id":"${n}"}}`)

  void it('may be 1,024 tool calls', async () => {
    const { last } = await askGoogle(calls(1_024))
    assert.equal(last?.type === 'end' && last.stop, 'tool_use')
  })

  void it('is refused with more of them, before the library has compared all their ids', async () => {
    const { last, heldMs } = await askGoogle(calls(45_000))
    assert.ok(last?.type === 'failed')
    assert.deepEqual([last.failure.kind, last.failure.retryable], ['request_failed', false])
    assert.match(last.failure.message, /more than 1024 tools in one answer/)
    assert.ok(heldMs < 2_000, `${heldMs} ms`)
  })

  void it('may be tens of thousands of texts, and others are served between them', async () => {
    const texts = Array.from({ length: 10_000 }, () => [
      '{"text":"a"}',
      '{"text":"b","thought":true}',
    ])
    // A machine with other work holds a process at times, but not each time in the same half.
    const shares: number[] = []
    do {
      const { last, tookMs, heldMs } = await askGoogle(texts.flat())
      assert.equal(last?.type === 'end' && last.stop, 'end_turn')
      shares.push(heldMs / tookMs)
    } while (shares.length < 3 && Math.min(...shares) >= 0.5)
    assert.ok(Math.min(...shares) < 0.5, `${shares.join(', ')} of the time`)
  })
})

void describe('a stream of events in pieces', () => {
  const small = { ...answerLimits, eventBytes: 100, eventLines: 4, eventMarks: 5, answerBytes: 500 }
  const split = (pieces: readonly string[], limits = small) => {
    const events = eventSplitter(limits)
    const whole = pieces.flatMap((piece) => events.split(Buffer.from(piece)))
    return [...whole, events.rest()]
      .filter(({ length }) => length > 0)
      .map((each) => Buffer.from(each).toString())
  }

  void it('goes on as whole events, however it was cut and however its lines end', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['event: a', 'data: 1', '', 'data: 2', '', ''].join(end)
      const first = `event: a${end}data: 1${end}${end}`
      assert.deepEqual(split([text]), [text], JSON.stringify(end))
      const cut = split(text.split(''))
      assert.equal(cut.join(''), text)
      const joined = cut.join('|').replaceAll('|\n', '\n|').split('|')
      assert.deepEqual(
        joined.filter(Boolean),
        [first, text.slice(first.length)],
        JSON.stringify(end),
      )
    }
    assert.deepEqual(split(['data: 1\n\nda', 'ta: 2']), ['data: 1\n\n', 'data: 2'])
  })

  void it('has a bound on each event, and on all of them', () => {
    const refused = (pieces: string[], why: RegExp) =>
      assert.throws(
        () => split(pieces),
        (error) => error instanceof RefusedAnswer && why.test(error.message),
      )
    refused(['x'.repeat(60), 'x'.repeat(60)], /event of more than 100 bytes/)
    refused(['x\nx\nx\nx\n\n'], /event of more than 4 lines/)
    refused(['data: {"a":[[],[],[]]}\n\n'], /event of more than 5 values/)
    refused(
      Array.from({ length: 60 }, () => 'data: 12\n\n'),
      /more than 500 bytes/,
    )
    assert.equal(split(['data: {"a":"[[[,,,{{{\\",,,,"}\n\n']).length, 1)
    const many = Array.from({ length: 40 }, () => 'data: []\n\n')
    assert.equal(split(many).join(''), many.join(''))
  })
})
