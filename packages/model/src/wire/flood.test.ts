/** An endpoint that sends as fast as it can. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { stubKey, userText } from '../stubs/read-answer.ts'
import { formatSse } from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'
import { probeModel } from '../probe.ts'

/** Sends deltas of 60 characters until the connection is gone; `sent` tells how many bytes. */
async function flood() {
  let sent = 0
  const start = [
    formatSse({ type: 'message_start', message: { id: 'm', usage: {} } }, 'message_start'),
    formatSse(
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      'content_block_start',
    ),
  ].join('')
  const delta = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'x'.repeat(60) },
  }
  const piece = formatSse(delta, 'content_block_delta').repeat(100)
  async function pour(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start)
    while (!response.destroyed) {
      sent += piece.length
      if (!response.write(piece))
        await Promise.race([once(response, 'drain'), once(response, 'close')])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const server = createServer((_request, response) => void pour(response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const specOf = (base_url: string) => ({
  ...{ provider: 'ant', api: 'anthropic-messages', model: 'm', api_key: stubKey, base_url },
})

void describe('a flood', () => {
  void it('is not read further than its reader takes, and ends at once when it is aborted', async () => {
    await using endpoint = await flood()
    const stop = new AbortController()
    const call = { system: '', messages: [userText('Hi')], tools: [], signal: stop.signal }
    const events = openModel(specOf(endpoint.url)).stream(call)[Symbol.asyncIterator]()
    await events.next()
    const settled = async () => {
      const before = endpoint.sent()
      await new Promise((resolve) => setTimeout(resolve, 300))
      return endpoint.sent() === before
    }
    while (!(await settled()));
    assert.ok(endpoint.sent() < 32 * 1024 * 1024, `${endpoint.sent()} bytes were read`)
    stop.abort()
    const last = await events.next()
    assert.equal(last.value?.type, 'failed')
    const before = process.cpuUsage()
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { user: micros } = process.cpuUsage(before)
    assert.ok(micros < 250_000, `${micros} µs of work after the end`)
  })

  void it('is given up when the probe of its card ends, and others are served meanwhile', async () => {
    await using endpoint = await flood()
    let turns = 0
    const others = setInterval(() => turns++, 10)
    const outcome = await probeModel(specOf(endpoint.url), { timeoutMs: 1_000 })
    clearInterval(others)
    assert.equal(outcome.ok, false)
    assert.ok(turns > 10, `${turns} turns of others`)
  })
})
