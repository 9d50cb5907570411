/** Strangers at a process's port for other processes, and strangers behind the address of another process. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { describe, it } from 'node:test'
import type { ConnectionOptions, TlsOptions } from 'node:tls'
import { connect, createServer } from 'node:tls'
import { listenToTopic, awaitReach } from '../fixture.ts'
import { encodeFrame } from './frames.ts'
import type { TestProcess } from './fixture.ts'
import {
  addressOf,
  bareReader,
  peerKeys,
  createProcesses,
  quickLimits,
  selfSigned,
  until,
} from './fixture.ts'
import { usualPeerLimits } from './limits.ts'
import { signAnnouncement, dialerTls, listenerTls, readAnnouncement } from './keys.ts'

const otherKeys = [Buffer.alloc(32, 2)] as const
const peer = { process: 'process_stranger', addresses: ['127.0.0.1:1'] }

const peerAddressOf = (process: TestProcess) => {
  const { hostname, port } = new URL(`tcp://${addressOf(process)}`)
  return { host: hostname, port: Number(port) }
}

/** Resolves with the outcome of the attempt. */
async function outcome(process: TestProcess, options: ConnectionOptions): Promise<string> {
  const socket = connect({ ...options, ...peerAddressOf(process) })
  return new Promise((resolve) => {
    socket.once('secureConnect', () => resolve('connected'))
    socket.once('error', (error) => resolve(error.message))
    socket.once('close', () => resolve('closed'))
  })
}

/** Number of hellos that a process sends to a stranger at the address of another process before it gives up. */
async function helloesTo(options: TlsOptions): Promise<number> {
  const together = createProcesses()
  let helloes = 0
  const server = createServer(options, (socket) => {
    socket.on('error', () => {})
    socket.on('data', () => helloes++)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  await together.open({ address: `127.0.0.1:${address.port}` })
  const here = await together.open()
  await until(() => here.log.lines.some(({ message }) => /cannot be reached/.test(message)))
  await together.close()
  server.close()
  return helloes
}

describe('strangers', () => {
  it('get no connection without the key', async () => {
    const together = createProcesses()
    const here = await together.open()
    assert.notEqual(await outcome(here, dialerTls(otherKeys)), 'connected')
    assert.notEqual(await outcome(here, { rejectUnauthorized: false }), 'connected')
    const { pskCallback, ...protocol } = dialerTls(peerKeys)
    const identity = pskCallback?.(null)?.identity ?? ''
    const guess = { psk: Buffer.alloc(32, 9), identity }
    assert.notEqual(await outcome(here, { ...protocol, pskCallback: () => guess }), 'connected')
    assert.equal(await outcome(here, dialerTls(peerKeys)), 'connected')
    await together.close()
  })

  it('use TLS 1.3 with an ephemeral exchange when they have the key', async () => {
    const together = createProcesses()
    const { socket } = await bareReader(await together.open())
    assert.equal(socket.getProtocol(), 'TLSv1.3')
    assert.notDeepEqual(socket.getEphemeralKeyInfo(), {})
    assert.deepEqual(socket.getPeerCertificate(), {})
    await together.close()
  })

  it('hear nothing when they look for another process', async () => {
    const together = createProcesses()
    const here = await together.open()
    const socket = connect({ ...dialerTls(peerKeys), ...peerAddressOf(here) })
    await once(socket, 'secureConnect')
    socket.write(encodeFrame({ hello: { from: 'one', to: 'another', addresses: [] } }))
    let bytes = 0
    socket.on('data', ({ length }: Buffer) => (bytes += length))
    await once(socket, 'close')
    assert.equal(bytes, 0)
    await together.close()
  })

  it('that say nothing are cut off, and keep no process out', async () => {
    const together = createProcesses()
    const limits = { ...quickLimits, strangers: 8, handshakeMs: 300 }
    const here = await together.open({ limits })
    const silent = Array.from({ length: 50 }, () => connectPlain(peerAddressOf(here)))
    let open = silent.length
    for (const socket of silent) {
      socket.on('error', () => {})
      socket.resume().once('close', () => open--)
    }
    await until(() => open <= 8)
    const there = await together.open()
    await awaitReach(here.channel, there.channel, 't')
    await until(() => open === 0)
    await together.close()
  })

  it('that have the key and hold no hello, or other frames than these, are cut off', async () => {
    const together = createProcesses()
    // The heartbeat limit is long, so that none of the strangers is cut off for silence.
    const limits = { ...usualPeerLimits, handshakeMs: 300, topics: 10 }
    const here = await together.open({ limits })
    const mute = connect({ ...dialerTls(peerKeys), ...peerAddressOf(here) })
    mute.on('error', () => {}).resume()
    await new Promise((resolve) => mute.once('close', resolve))
    const large = Buffer.alloc(4)
    large.writeUInt32BE(0x7fffffff)
    const spoken: Buffer[] = [
      large,
      Buffer.from('\0\0\0\x04oops', 'latin1'),
      Buffer.concat([Buffer.from([0, 0, 0, 10]), Buffer.from('{"a":"b" }')]),
      encodeFrame({ read: Array.from({ length: 11 }, (_, n) => `${n}`), leave: [] }),
    ]
    for (const bytes of spoken) {
      const { socket, closed } = await bareReader(here)
      socket.write(bytes)
      await closed
    }
    // The process still works.
    const there = await together.open()
    await awaitReach(here.channel, there.channel, 't')
    await together.close()
  })

  it('cannot announce themselves', () => {
    const announced = signAnnouncement(peer, peerKeys)
    assert.deepEqual(readAnnouncement(announced, peerKeys), peer)
    assert.deepEqual(readAnnouncement(announced, [...otherKeys, ...peerKeys]), peer)
    for (const forged of [
      signAnnouncement(peer, otherKeys),
      { ...announced, addresses: ['127.0.0.1:2'] },
      { ...announced, process: 'process_other' },
      { ...announced, mark: '' },
      { ...peer },
      {},
    ])
      assert.equal(readAnnouncement(forged, peerKeys), undefined)
  })

  it('at the address of another process are refused, with a certificate or another key', async () => {
    const pem = selfSigned()
    for (const options of [{ key: pem, cert: pem }, listenerTls(otherKeys)])
      assert.equal(await helloesTo(options), 0)
  })

  it('are refused where the environment lets every certificate pass', async () => {
    const name = 'NODE_TLS_REJECT_UNAUTHORIZED'
    const before = process.env[name]
    process.env[name] = '0'
    try {
      const pem = selfSigned()
      assert.equal(await helloesTo({ key: pem, cert: pem }), 0)
    } finally {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    }
  })

  it('that answer at the address of a process flood nobody with words that were not asked for', async () => {
    const together = createProcesses()
    const listener = createServer(listenerTls(peerKeys), (socket) => {
      socket.on('error', () => {})
      socket.write(encodeFrame({ hello: { from: flooding.process } }))
      for (let n = 0; n < 20_000; n++) socket.write(encodeFrame([`topic ${n}`, { n }]))
      socket.write(encodeFrame(['asked for', { n: 'last' }]))
    })
    listener.listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const address = listener.address()
    assert.ok(typeof address === 'object' && address)
    const flooding = {
      process: 'process_flooding',
      addresses: [`127.0.0.1:${address.port}`],
    }
    const here = await together.open()
    const { heard, until: heardBy } = listenToTopic(here.channel, 'asked for')
    together.notifications.publish('processes', signAnnouncement(flooding, peerKeys))
    await heardBy(({ length }) => length > 0)
    assert.deepEqual(heard[0], { n: 'last' })
    await together.close()
    listener.close()
  })
})

describe('a change of the root secret', () => {
  it('keeps processes together that hold both keys, whichever is their own', async () => {
    const together = createProcesses()
    const [older, newer] = [...peerKeys, ...otherKeys]
    assert.ok(newer)
    const here = await together.open({ keys: [older, newer] })
    const there = await together.open({ keys: [newer, older] })
    const last = await together.open({ keys: [newer] })
    await awaitReach(here.channel, there.channel, 't')
    await awaitReach(there.channel, here.channel, 't')
    await awaitReach(there.channel, last.channel, 't')
    await awaitReach(last.channel, there.channel, 't')
    await together.close()
  })
})
