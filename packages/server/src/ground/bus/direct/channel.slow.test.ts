import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, it } from 'node:test'
import { postgresProxy } from '../../database/proxy-fixture.ts'
import type { BusMessage } from '../bus.ts'
import { isMissed } from '../bus.ts'
import { listenToTopic, awaitReach } from '../fixture.ts'
import { memoryChannel } from '../memory.ts'
import type { TestProcess } from './fixture.ts'
import { addressOf, bareReader, freePort, createProcesses, until } from './fixture.ts'
import { usualPeerLimits } from './limits.ts'

const numbers = (heard: BusMessage[]) => heard.flatMap(({ n }) => (n === undefined ? [] : [n]))
const has = (n: unknown) => (heard: BusMessage[]) => heard.some((message) => message['n'] === n)
const hasMissed = (heard: BusMessage[]) => heard.some(isMissed)

/** A word that counts how often it becomes text. */
function countedWord(n: number) {
  let count = 0
  const word = {
    n,
    toJSON() {
      count++
      return { n }
    },
  }
  return { word, count: () => count }
}

/** Opens two processes. The second reads from the first through a proxy. */
async function behindProxy(together: ReturnType<typeof createProcesses>) {
  const port = await freePort()
  const proxy = await postgresProxy(`tcp://127.0.0.1:${port}`)
  const address = `127.0.0.1:${new URL(proxy.url).port}`
  const here = await together.open({ port, address })
  const there = await together.open()
  return { here: here.channel, there: there.channel, proxy }
}

describe('direct connections', () => {
  it('carry a word only to processes that read its topic, and make no text of any other', async () => {
    const together = createProcesses()
    const [here, there, third] = [
      await together.open(),
      await together.open(),
      await together.open(),
    ]
    const ears = Array.from({ length: 10 }, (_, n) => listenToTopic(there.channel, `read ${n}`))
    await awaitReach(here.channel, there.channel, 'read 9')
    await awaitReach(here.channel, third.channel, 'of the third')
    const words = Array.from({ length: 10_000 }, (_, n) => countedWord(n))
    for (const [n, { word }] of words.entries())
      here.channel.publish(n % 1_000 === 0 ? `read ${n / 1_000}` : `unread ${n}`, word)
    await Promise.all(ears.map(({ until: heardBy }, n) => heardBy(has(n * 1_000))))
    assert.equal(words.filter(({ count }) => count() > 0).length, 10)
    assert.ok(words.every(({ count }) => count() <= 1))
    for (const { quiet } of ears) quiet()
    const last = listenToTopic(there.channel, 'last')
    await awaitReach(here.channel, there.channel, 'last')
    const late = countedWord(1)
    here.channel.publish('read 0', late.word)
    assert.equal(late.count(), 0)
    last.quiet()
    await together.close()
  })

  it('carry the same between three processes, each way', async () => {
    const together = createProcesses()
    const all = [await together.open(), await together.open(), await together.open()]
    for (const from of all)
      for (const to of all) if (from !== to) await awaitReach(from.channel, to.channel, 't')
    const ears = all.map(({ channel }) => listenToTopic(channel, 't'))
    for (const from of all)
      for (const to of all) if (from !== to) await awaitReach(from.channel, to.channel, 't')
    for (const [n, { channel }] of all.entries()) channel.publish('t', { n })
    for (const { until: heardBy } of ears) {
      const heard = await heardBy((some) => some.length === 3)
      assert.deepEqual(new Set(numbers(heard)), new Set([0, 1, 2]))
    }
    await together.close()
  })

  it('notify the topics that had words when they are cut, and deliver later words', async () => {
    const together = createProcesses()
    const { here, there, proxy } = await behindProxy(together)
    const [spoken, silent] = [listenToTopic(there, 'spoken'), listenToTopic(there, 'silent')]
    await awaitReach(here, there, 'spoken')
    here.publish('spoken', { n: 1 })
    await spoken.until(has(1))
    proxy.cut()
    await spoken.until(hasMissed)
    await awaitReach(here, there, 'spoken')
    here.publish('spoken', { n: 2 })
    here.publish('silent', { n: 2 })
    await Promise.all([spoken.until(has(2)), silent.until(has(2))])
    assert.deepEqual(spoken.heard, [{ n: 1 }, { missed: true }, { n: 2 }])
    assert.deepEqual(silent.heard, [{ n: 2 }])
    await together.close()
    await proxy[Symbol.asyncDispose]()
  })

  it('are made anew where packets vanish', async () => {
    const together = createProcesses()
    const { here, there, proxy } = await behindProxy(together)
    const { heard, until: heardBy } = listenToTopic(there, 't')
    await awaitReach(here, there, 't')
    proxy.vanish()
    const began = performance.now()
    here.publish('t', { n: 'lost' })
    await heardBy(hasMissed)
    assert.ok(performance.now() - began < 2_000)
    proxy.resume()
    await awaitReach(here, there, 't')
    here.publish('t', { n: 2 })
    await heardBy(has(2))
    assert.deepEqual(heard, [{ missed: true }, { n: 2 }])
    await together.close()
    await proxy[Symbol.asyncDispose]()
  })

  it('are made where an announcement was lost', async () => {
    const notifications = memoryChannel()
    let isLossy = true
    const publish: typeof notifications.publish = (...given) =>
      isLossy ? undefined : notifications.publish(...given)
    const together = createProcesses({ ...notifications, publish })
    const [here, there] = [await together.open(), await together.open()]
    const { until: heardBy } = listenToTopic(there.channel, 't')
    isLossy = false
    notifications.miss()
    await awaitReach(here.channel, there.channel, 't')
    here.channel.publish('t', { n: 1 })
    await heardBy(has(1))
    await together.close()
  })

  it('drop words that a slow process does not read, say so, and never show it words behind a gap', async () => {
    const together = createProcesses()
    const here = await together.open({ limits: { ...usualPeerLimits, waitingBytes: 200_000 } })
    const reader = await bareReader(here)
    reader.say({ read: ['t', 'other'], leave: [] })
    await until(() => reader.heard.length === 1)
    const probe = setInterval(() => here.channel.publish('t', { n: -1 }), 5)
    await until(() => reader.heard.length > 1)
    clearInterval(probe)
    reader.socket.pause()
    const many = 40_000
    for (let n = 0; n < many; n++) {
      here.channel.publish('t', { n, text: 'x'.repeat(2_000) })
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    here.channel.publish('other', { n: 'other' })
    reader.socket.resume()
    // Words that were held back leave only after all unsent words have left.
    const later = setInterval(() => here.channel.publish('t', { n: 'later' }), 5)
    const words = () =>
      reader.heard.flatMap((said) =>
        'missed' in said
          ? said.missed.map((topic) => `missed ${topic}`)
          : Array.isArray(said) && said[1]['n'] !== -1
            ? [`${said[0]} ${String(said[1]['n'])}`]
            : [],
      )
    await until(() => words().includes('t later'))
    clearInterval(later)
    const shown = words().filter((word) => !word.endsWith('other'))
    let last = -1
    let isTold = false
    for (const word of shown) {
      if (word === 'missed t') isTold = true
      else {
        const n = word === 't later' ? many : Number(word.slice(2))
        assert.ok(n === last + 1 || isTold || last === many, `${word} behind ${last}`)
        last = n
        isTold = false
      }
    }
    // Only the words that fit a socket's buffer were sent: all of them together are 80 MB.
    assert.ok(shown.length < many / 4, `${shown.length}`)
    await together.close()
  })

  it('report a word above the bound as missed, and do not send it', async () => {
    const together = createProcesses()
    const [here, there] = [await together.open(), await together.open()]
    const { heard, until: heardBy } = listenToTopic(there.channel, 't')
    await awaitReach(here.channel, there.channel, 't')
    here.channel.publish('t', { n: 1, text: 'x'.repeat(300_000) })
    here.channel.publish('t', { n: 2 })
    await heardBy(has(2))
    assert.deepEqual(heard, [{ missed: true }, { n: 2 }])
    await together.close()
  })

  it('are given up when the other process is dead, and not before', async () => {
    const together = createProcesses()
    const [here, there] = [await together.open(), await together.open()]
    const attempts = async (process: TestProcess, ms: number) => {
      const { createServer } = await import('node:net')
      let count = 0
      const server = createServer((socket) => {
        count++
        socket.destroy()
      })
      server.listen(Number(new URL(`tcp://${addressOf(process)}`).port), '127.0.0.1')
      await new Promise((resolve) => setTimeout(resolve, ms))
      await new Promise((resolve) => server.close(resolve))
      return count
    }
    await awaitReach(there.channel, here.channel, 't')
    await there.channel.close()
    assert.ok((await attempts(there, 1_500)) >= 3)
    together.end(there.name)
    await until(() => here.log.lines.some(({ message }) => /cannot be reached/.test(message)))
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(await attempts(there, 500), 0)
    await together.close()
  })

  it('are made to a process that listens everywhere, at an address of the machine', async () => {
    const refused = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .map(({ address }) => address)
    for (const host of ['0.0.0.0', '::']) {
      const together = createProcesses()
      const there = await together.open({ host })
      const here = await together.open()
      assert.ok(refused.includes(new URL(`tcp://${addressOf(there)}`).hostname))
      await awaitReach(there.channel, here.channel, 't')
      await together.close()
    }
  })

  it('that cannot be made are logged with the address and the setting', async () => {
    const together = createProcesses()
    const port = await freePort()
    const there = await together.open({ address: `127.0.0.1:${port}` })
    const here = await together.open()
    const warned = () => here.log.lines.find(({ message }) => /PEER_ADDRESS/.test(message))
    await until(() => warned() !== undefined)
    const fields = warned()?.fields
    assert.deepEqual(
      [fields?.['process'], fields?.['addresses']],
      [there.name, [`127.0.0.1:${port}`]],
    )
    assert.match(String(fields?.['error']), /ECONNREFUSED/)
    await together.close()
  })

  it('deliver words to a process that no other reaches, if that process came later', async () => {
    const together = createProcesses()
    const here = await together.open()
    const there = await together.open({ address: `127.0.0.1:${await freePort()}` })
    await awaitReach(here.channel, there.channel, 't')
    await together.close()
  })
})
