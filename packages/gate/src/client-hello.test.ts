import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import type { ConnectionOptions } from 'node:tls'
import { connect } from 'node:tls'
import type { ClientHello } from './client-hello.ts'
import { readFirstBytes } from './client-hello.ts'

/** The first bytes of a real client. */
async function firstBytesOf(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const client = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  client.on('error', () => client.destroy())
  const [socket] = await once(server, 'connection')
  const [bytes] = await once(socket, 'data')
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

function helloOf(bytes: Buffer): ClientHello {
  const read = readFirstBytes(bytes)
  assert.ok(read.kind === 'hello', read.kind)
  return read.hello
}

/** The same message in records of at most `size` bytes. */
function fragmented(bytes: Buffer, size: number): Buffer {
  const records: Buffer[] = []
  for (let at = 5; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size)
    records.push(Buffer.of(22, 3, 1, part.length >> 8, part.length & 255), part)
  }
  return Buffer.concat(records)
}

describe('the first bytes of a client', () => {
  it('have the name and the protocols that it asks for', async () => {
    const bytes = await firstBytesOf({
      servername: 'api.example.com',
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    assert.deepEqual(helloOf(bytes), {
      serverName: 'api.example.com',
      protocols: ['h2', 'http/1.1'],
    })
  })

  it('have no value for an extension that the client omits', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const bytes = await firstBytesOf({ maxVersion })
      assert.deepEqual(helloOf(bytes), { serverName: undefined, protocols: undefined })
    }
  })

  it('are read from several records', async () => {
    const bytes = await firstBytesOf({ servername: 'a.example', ALPNProtocols: ['h2'] })
    for (const size of [40, 41, 100, 1000]) {
      const expected = { serverName: 'a.example', protocols: ['h2'] }
      assert.deepEqual(helloOf(fragmented(bytes, size)), expected, `${size}`)
    }
  })

  it('are malformed in very many records, which would cost more to read than they may', async () => {
    const bytes = await firstBytesOf({ servername: 'a.example' })
    assert.equal(readFirstBytes(fragmented(bytes, 1)).kind, 'malformed')
  })

  it('are waited for until the message is whole', async () => {
    const whole = await firstBytesOf({ servername: 'a.example' })
    for (const bytes of [whole, fragmented(whole, 64)]) {
      for (let length = 0; length < bytes.length; length++) {
        assert.deepEqual(readFirstBytes(bytes.subarray(0, length)), { kind: 'more' }, `${length}`)
      }
      assert.equal(readFirstBytes(Buffer.concat([bytes, Buffer.from('more')])).kind, 'hello')
    }
  })

  it('are not TLS when they begin otherwise', () => {
    for (const text of ['GET / HTTP/1.1\r\n', '\0', 'SSH-2.0-x\r\n', '\u0017\u0003\u0003']) {
      assert.deepEqual(readFirstBytes(Buffer.from(text)), { kind: 'other' })
    }
  })

  it('are malformed when a length, a type or a repeated part makes no sense', async () => {
    const good = await firstBytesOf({ servername: 'a.example' })
    const changed = (at: number, value: number) => {
      const bytes = Buffer.from(good)
      bytes[at] = value
      return readFirstBytes(bytes).kind
    }
    assert.equal(changed(1, 2), 'malformed', 'SSL 2')
    assert.equal(changed(3, 255), 'malformed', 'a record beyond the limit')
    assert.equal(changed(5, 2), 'malformed', 'another message')
    assert.equal(changed(6, 1), 'malformed', 'a message beyond the limit')
    assert.equal(changed(43, 255), 'malformed', 'a session id beyond the end')
    assert.equal(readFirstBytes(Buffer.of(22, 3, 1, 0, 0)).kind, 'malformed', 'an empty record')
    const name = Buffer.from([0, 0, 0, 14, 0, 12, 0, 0, 9, ...Buffer.from('a.example')])
    const at = good.indexOf(name)
    assert.ok(at > 0)
    const twice = Buffer.concat([good.subarray(0, at), name, good.subarray(at)])
    for (const [offset, size] of [
      [3, 2],
      [7, 2],
    ] as const) {
      twice.writeUIntBE(twice.readUIntBE(offset, size) + name.length, offset, size)
    }
    const extensions = 5 + 4 + 34 + 33 + 2 + twice.readUInt16BE(5 + 4 + 34 + 33) + 2
    twice.writeUInt16BE(twice.readUInt16BE(extensions) + name.length, extensions)
    assert.equal(readFirstBytes(twice).kind, 'malformed', 'two names')
  })

  it('end in an answer whatever they are', async () => {
    const good = await firstBytesOf({ servername: 'a.example', ALPNProtocols: ['h2'] })
    for (let at = 0; at < good.length; at++) {
      for (const value of [0, 1, 127, 128, 255]) {
        const bytes = Buffer.from(good)
        bytes[at] = value
        assert.ok(readFirstBytes(bytes).kind)
      }
    }
  })
})
