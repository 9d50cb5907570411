import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { explainListenFailure } from './listening.ts'

describe('a port that cannot be listened on', () => {
  it('is named by its setting', async () => {
    const first = createServer().listen(0, '127.0.0.1')
    await once(first, 'listening')
    const { port } = first.address() as AddressInfo
    const second = once(createServer().listen(port, '127.0.0.1'), 'listening')
    await assert.rejects(explainListenFailure('METRICS_PORT', second), (error: Error) => {
      const start = `METRICS_PORT: another program listens on 127.0.0.1:${port}: `
      return error.message.startsWith(start) && error.cause instanceof Error
    })
    first.close()
    const foreign = once(createServer().listen(0, '192.0.2.1'), 'listening')
    await assert.rejects(
      explainListenFailure('PORT', foreign),
      /^Error: PORT: .* cannot be listened on: /,
    )
    await assert.rejects(
      explainListenFailure('PORT', Promise.reject(new Error('other'))),
      /^Error: other$/,
    )
    assert.equal(await explainListenFailure('PORT', Promise.resolve(7)), 7)
  })
})
