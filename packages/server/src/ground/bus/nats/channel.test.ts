import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { BusMessage } from '../bus.ts'
import { isMissed } from '../bus.ts'
import { keptLog, selfSigned, until } from '../direct/fixture.ts'
import { listenToTopic, awaitReach } from '../fixture.ts'
import { natsChannel } from './channel.ts'
import { natsServer } from './fixture.ts'

const has = (n: unknown) => (heard: BusMessage[]) => heard.some((message) => message['n'] === n)
const hasMissed = (heard: BusMessage[]) => heard.some(isMissed)

const opened = async (url: string) => {
  const log = keptLog()
  return { log, channel: await natsChannel({ url, log, waitingBytes: 200_000 }) }
}

describe('a NATS channel', () => {
  it('survives the loss of its server, and notifies the topics that had words', async () => {
    await using server = await natsServer()
    const [here, there] = [await opened(server.url), await opened(server.url)]
    const [read, silent] = [
      listenToTopic(there.channel, 'read'),
      listenToTopic(there.channel, 'silent'),
    ]
    await awaitReach(here.channel, there.channel, 'read')
    await server.kill()
    await read.until(hasMissed)
    assert.deepEqual(silent.heard, [])
    await until(() => !here.channel.isOpen())
    here.channel.publish('read', { n: 'lost' })
    await server.start()
    await until(() => here.channel.isOpen() && there.channel.isOpen())
    await awaitReach(here.channel, there.channel, 'read')
    here.channel.publish('read', { n: 'later' })
    await read.until(has('later'))
    assert.ok(!has('lost')(read.heard))
    assert.ok(there.log.lines.some(({ message }) => /NATS is away/.test(message)))
    await Promise.all([here.channel.close(), there.channel.close()])
  })

  it('reports words that it dropped for a server that does not read them, before any later word', async () => {
    await using server = await natsServer()
    const [here, there] = [await opened(server.url), await opened(server.url)]
    const { heard, until: heardBy } = listenToTopic(there.channel, 't')
    await awaitReach(here.channel, there.channel, 't')
    server.pause()
    for (let n = 0; n < 1_000; n++) here.channel.publish('t', { n, text: 'x'.repeat(2_000) })
    server.resume()
    await heardBy(hasMissed)
    here.channel.publish('t', { n: 'later' })
    await heardBy(has('later'))
    const shown = heard.map((message) => (isMissed(message) ? 'missed' : message['n']))
    const gap = shown.indexOf('missed')
    assert.ok(gap > 0 && gap < 200, `${gap}`)
    assert.deepEqual(
      shown.slice(0, gap),
      Array.from({ length: gap }, (_, n) => n),
    )
    assert.equal(shown.at(-1), 'later')
    assert.ok(shown.slice(gap).every((n) => n === 'missed' || n === 'later'))
    await Promise.all([here.channel.close(), there.channel.close()])
  })

  it('reports a word above the bound as missed, and does not send it', async () => {
    await using server = await natsServer()
    const [here, there] = [await opened(server.url), await opened(server.url)]
    const { heard, until: heardBy } = listenToTopic(there.channel, 't')
    await awaitReach(here.channel, there.channel, 't')
    here.channel.publish('t', { n: 1, text: 'x'.repeat(300_000) })
    await heardBy(hasMissed)
    here.channel.publish('t', { n: 2 })
    await heardBy(has(2))
    assert.deepEqual(heard, [{ missed: true }, { n: 2 }])
    await Promise.all([here.channel.close(), there.channel.close()])
  })

  it('does not begin with a wrong password or without a server, and shows neither the password nor the name', async () => {
    await using server = await natsServer({ password: 'right' })
    const wrong = server.url.replace('right', 'wrong')
    const { host } = new URL(wrong)
    const log = keptLog()
    const isClear = ({ message, stack }: Error) => {
      assert.ok(message.includes(host) && message.includes('BUS_URL'), message)
      assert.doesNotMatch(`${message} ${stack}`, /wrong|right|steward:/)
      return true
    }
    await assert.rejects(natsChannel({ url: wrong, log }), isClear)
    await server.kill()
    await assert.rejects(natsChannel({ url: server.url, log }), isClear)
    await server.start()
    assert.deepEqual(log.lines, [])
  })

  it('accepts a token instead of a name and a password', async () => {
    await using server = await natsServer({ token: 'a:token/of nats' })
    const [here, there] = [await opened(server.url), await opened(server.url)]
    await awaitReach(here.channel, there.channel, 't')
    await Promise.all([here.channel.close(), there.channel.close()])
  })

  it('speaks TLS with a server whose certificate is trusted, and with no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-nats-'))
    const certificate = join(folder, 'nats.pem')
    await writeFile(certificate, selfSigned())
    const before = getCACertificates('default')
    {
      await using server = await natsServer({ certificate })
      // The library compares the certificate with a name, not with an address.
      const byName = server.url.replace('127.0.0.1', 'localhost')
      await assert.rejects(opened(byName), /self-signed certificate/)
      setDefaultCACertificates([await readFile(certificate, 'utf8')])
      for (const url of [byName, byName.replace('tls:', 'nats:')]) {
        const [here, there] = [await opened(url), await opened(url)]
        await awaitReach(here.channel, there.channel, 't')
        await Promise.all([here.channel.close(), there.channel.close()])
      }
    }
    await using plain = await natsServer()
    await assert.rejects(opened(plain.url.replace('nats:', 'tls:')), /does not support 'tls'/)
    setDefaultCACertificates(before)
    await rm(folder, { recursive: true })
  })
})
