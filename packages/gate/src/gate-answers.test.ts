import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openTestTunnel, openTls, toTheEnd, openTestGate } from './gate-fixture.ts'
import { RequestRefused } from './outbound.ts'

const fenced = () =>
  Promise.reject(
    new RequestRefused({ host: 'a.example', port: 443, reason: 'fenced', message: 'it is gone' }),
  )

const post = (size: number) =>
  `POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${size}\r\n\r\n`

describe('a refusal while a body is still coming', () => {
  it('reaches a client that sends it all before it reads', async () => {
    await using setup = await openTestGate({ forward: fenced })
    const size = 20_000_000
    for (const open of [
      () => openTestTunnel(setup.socketPath, 'a.example:80'),
      () => openTls(setup, 'a.example'),
    ]) {
      const socket = await open()
      const answer = toTheEnd(socket)
      socket.write(post(size))
      const failure = await new Promise((resolve) => socket.write(Buffer.alloc(size), resolve))
      assert.ok(!failure, String(failure))
      assert.match(await answer, /^HTTP\/1\.1 403 [^]*Connection: close[^]*"fenced"/)
      socket.destroy()
    }
    assert.equal(setup.refusals.length, 2)
  })

  it('ends the connection when nothing more comes', async () => {
    await using setup = await openTestGate({ forward: fenced })
    const socket = await openTestTunnel(setup.socketPath, 'a.example:80')
    const answer = toTheEnd(socket)
    socket.write(`${post(9)}half`)
    assert.match(await answer, /^HTTP\/1\.1 403 /)
    socket.destroy()
  })

  it('is not lost to a reset where the head is too large and goes on coming', async () => {
    await using setup = await openTestGate({ forward: fenced })
    const socket = await openTestTunnel(setup.socketPath, 'a.example:80')
    const answer = toTheEnd(socket)
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\nX: ')
    const failures: unknown[] = []
    for (let n = 0; n < 40; n++) {
      failures.push(await new Promise((resolve) => socket.write('a'.repeat(10_000), resolve)))
    }
    assert.deepEqual(failures.filter(Boolean), [])
    assert.match(await answer, /^HTTP\/1\.1 431 [^]*Connection: close/)
    socket.destroy()
  })
})
