import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { describe, it } from 'node:test'
import { certificateAuthority } from './authority.ts'
import type { GateLimits } from './gate.ts'
import { socketlessGate } from './gate.ts'
import { listenOnFreePort, toTheEnd, collectUntil, openTestGate } from './gate-fixture.ts'

/** Passes connections of a port to a gate without a socket, each with the bytes that came before. */
async function taking(limits: Partial<GateLimits> = {}) {
  const setup = await openTestGate()
  const { owner } = setup
  const gate = socketlessGate({ authority: certificateAuthority(), owner, limits })
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => gate.take(socket))
  const port = await listenOnFreePort(server)
  return {
    gate,
    dial: () => connect(port, '127.0.0.1').setEncoding('utf8'),
    async [Symbol.asyncDispose]() {
      await gate.close()
      server.close()
      await setup[Symbol.asyncDispose]()
    },
  }
}

const get = 'GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n'

describe('a gate without a socket', () => {
  it('serves connections that it is given, with bytes that came before', async () => {
    await using setup = await taking()
    const socket = setup.dial()
    const answer = collectUntil(socket, (text) => text.includes('hello'))
    socket.write(get)
    assert.match(await answer, /^HTTP\/1\.1 200 /)
    socket.destroy()
  })

  it('closes connections that send no request, or an unfinished one', async () => {
    await using setup = await taking({ headersMs: 200 })
    const [begun, silent] = [setup.dial(), setup.dial()]
    const answers = [toTheEnd(begun), toTheEnd(silent)]
    begun.write('GET http://good')
    assert.match((await answers[0]) ?? '', /^HTTP\/1\.1 408 /)
    await answers[1]
  })

  it('ends its connections when it is closed', async () => {
    await using setup = await taking()
    const socket = setup.dial()
    const answer = collectUntil(socket, (text) => text.includes('hello'))
    socket.write(get)
    await answer
    const closed = once(socket, 'close')
    await setup.gate.close()
    await closed
  })
})
