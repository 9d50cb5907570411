import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { newPostgresUrl } from '../database/fixture.ts'
import { postgresProxy } from '../database/proxy-fixture.ts'
import type { BusMessage, Channel } from './bus.ts'
import { isMissed } from './bus.ts'
import { keptLog, createProcesses, quickLimits } from './direct/fixture.ts'
import { usualPeerLimits } from './direct/limits.ts'
import { listenToTopic, awaitReach } from './fixture.ts'
import { memoryChannel } from './memory.ts'
import { natsChannel } from './nats/channel.ts'
import { natsServer } from './nats/fixture.ts'
import { postgresChannel } from './postgres.ts'

const has = (n: unknown) => (heard: BusMessage[]) => heard.some((message) => message['n'] === n)

const kinds: Record<
  string,
  () => Promise<{ here: Channel; there: Channel; close: () => Promise<void> }>
> = {
  async memory() {
    const channel = memoryChannel()
    return { here: channel, there: channel, close: () => channel.close() }
  },
  async postgres() {
    const url = await newPostgresUrl()
    const [here, there] = [await postgresChannel(url), await postgresChannel(url)]
    return {
      here,
      there,
      close: async () => void (await Promise.all([here.close(), there.close()])),
    }
  },
  async direct() {
    const together = createProcesses()
    // With quick heartbeats a busy machine is silent for too long, and the connection ends with what is on its way.
    const limits = { ...quickLimits, heartbeatMs: usualPeerLimits.heartbeatMs }
    const [here, there] = [await together.open({ limits }), await together.open({ limits })]
    return { here: here.channel, there: there.channel, close: () => together.close() }
  },
  async nats() {
    const server = await natsServer()
    const open = () => natsChannel({ url: server.url, log: keptLog() })
    const [here, there] = [await open(), await open()]
    return {
      here,
      there,
      async close() {
        await Promise.all([here.close(), there.close()])
        await server.kill()
      },
    }
  },
}

for (const [kind, open] of Object.entries(kinds)) {
  describe(`a ${kind} channel`, () => {
    it('delivers a message to its own process before the call returns', async () => {
      const { here, close } = await open()
      const { heard } = listenToTopic(here, 't')
      here.publish('t', { n: 1 })
      assert.deepEqual(heard, [{ n: 1 }])
      await close()
    })

    it('delivers messages to others, both ways, by topic, once and in their order', async () => {
      const { here, there, close } = await open()
      const [one, two] = [listenToTopic(here, 'a'), listenToTopic(there, 'b')]
      await Promise.all([awaitReach(there, here, 'a'), awaitReach(here, there, 'b')])
      for (let n = 0; n < 2000; n++) {
        here.publish('b', { n, text: 'ünïcödé'.repeat(n % 50) })
        there.publish('a', { n })
      }
      const numbers = Array.from({ length: 2000 }, (_, n) => n)
      assert.deepEqual(
        (await two.until(has(1999))).map(({ n }) => n),
        numbers,
      )
      assert.deepEqual(
        (await one.until(has(1999))).map(({ n }) => n),
        numbers,
      )
      await close()
    })

    it('delivers nothing after a subscription has ended', async () => {
      const { here, there, close } = await open()
      const [one, two] = [listenToTopic(there, 't'), listenToTopic(there, 't')]
      await awaitReach(here, there, 't')
      here.publish('t', { n: 1 })
      await two.until(has(1))
      one.quiet()
      one.quiet()
      here.publish('t', { n: 2 })
      await two.until(has(2))
      assert.deepEqual(
        one.heard.map(({ n }) => n),
        [1],
      )
      await close()
    })

    it('delivers a message of 100 KB whole, in the order of the others', async () => {
      const { here, there, close } = await open()
      const { until } = listenToTopic(there, 't')
      await awaitReach(here, there, 't')
      // The text has escapes, pairs of surrogates and lone surrogates, which a cut could damage.
      const large = '"\\\u0001€😀\ud83d'.repeat(100_000 / 14)
      here.publish('t', { n: 1 })
      here.publish('t', { n: 2, large })
      here.publish('t', { n: 3 })
      const heard = await until(has(3))
      assert.deepEqual(heard, [{ n: 1 }, { n: 2, large }, { n: 3 }])
      await close()
    })
  })
}

describe('a postgres channel', () => {
  it('keeps a message above its bound in its own process, and goes on', async () => {
    const url = await newPostgresUrl()
    const [here, there] = [await postgresChannel(url), await postgresChannel(url)]
    const [one, two] = [listenToTopic(here, 't'), listenToTopic(there, 't')]
    here.publish('t', { n: 1, large: 'x'.repeat(300_000) })
    here.publish('t', { n: 2 })
    await two.until(has(2))
    assert.equal(one.heard.length, 2)
    assert.deepEqual(two.heard, [{ n: 2 }])
    await Promise.all([here.close(), there.close()])
  })

  it('listens again after its connection was cut, once', async () => {
    const url = await newPostgresUrl()
    const [here, there] = [await postgresChannel(url), await postgresChannel(url)]
    const { heard, until } = listenToTopic(there, 't')
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    for (let round = 1; round <= 3; round++) {
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
      // Messages during the loss may be lost, so the test publishes until one arrives.
      const saying = setInterval(() => here.publish('t', { n: round }), 20)
      await until(has(round))
      clearInterval(saying)
    }
    heard.length = 0
    here.publish('t', { n: 'last', large: 'x'.repeat(20_000) })
    await until(has('last'))
    here.publish('t', { n: 'end' })
    await until(has('end'))
    assert.equal(heard.filter(({ n }) => n === 'last').length, 1)
    const count = `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    assert.deepEqual((await admin.query(count)).rows, [{ n: 2 }])
    await Promise.all([here.close(), there.close()])
    assert.deepEqual((await admin.query(count)).rows, [{ n: 0 }])
    await admin.end()
  })

  it('notifies every topic after its connection was cut', async () => {
    await using proxy = await postgresProxy(await newPostgresUrl())
    const bus = await postgresChannel(proxy.url)
    const [one, two] = [listenToTopic(bus, 'a'), listenToTopic(bus, 'b')]
    proxy.cut()
    await Promise.all([one, two].map(({ until }) => until((heard) => heard.some(isMissed))))
    assert.ok(bus.isOpen())
    await bus.close()
  })

  it('notifies others to look at the topics of messages that it could not send', async () => {
    const url = await newPostgresUrl()
    await using proxy = await postgresProxy(url)
    const [here, there] = [await postgresChannel(proxy.url), await postgresChannel(url)]
    const [said, other] = [listenToTopic(there, 'said'), listenToTopic(there, 'other')]
    proxy.cut()
    here.publish('said', { n: 1 })
    await said.until((heard) => heard.some(isMissed))
    assert.deepEqual(other.heard, [])
    await Promise.all([here.close(), there.close()])
  })

  it('finds a connection whose packets vanish within two heartbeats, and loses no topic by it', async () => {
    const url = await newPostgresUrl()
    await using proxy = await postgresProxy(url)
    const limits = { connectMs: 1_500, statementMs: 500, heartbeatMs: 500 }
    const [here, there] = [await postgresChannel(proxy.url, limits), await postgresChannel(url)]
    const [near, far] = [listenToTopic(here, 'near'), listenToTopic(there, 'far')]
    proxy.vanish()
    const began = performance.now()
    there.publish('near', { n: 1 })
    here.publish('far', { n: 1 })
    while (here.isOpen()) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.ok(performance.now() - began < 3_000)
    proxy.resume()
    await near.until((heard) => heard.some(isMissed))
    await far.until((heard) => heard.some((message) => isMissed(message) || message['n'] === 1))
    proxy.vanish()
    here.publish('far', { n: 2 })
    const closing = performance.now()
    await here.close()
    assert.ok(performance.now() - closing < 6_000)
    await there.close()
  })

  it('sends what was published before it closes', async () => {
    const url = await newPostgresUrl()
    const [here, there] = [await postgresChannel(url), await postgresChannel(url)]
    const { until } = listenToTopic(there, 't')
    for (let n = 0; n < 500; n++) here.publish('t', { n })
    await here.close()
    assert.equal((await until(has(499))).length, 500)
    await there.close()
  })

  it('closes while its database is away', async () => {
    const url = await newPostgresUrl()
    const bus = await postgresChannel(url)
    const root = new URL(url)
    root.pathname = '/postgres'
    const admin = new pg.Client({ connectionString: root.href })
    await admin.connect()
    await admin.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`)
    await admin.end()
    bus.publish('t', { n: 1 })
    await bus.close()
  })
})

it('a postgres channel does not hear what others say on its channel', async () => {
  const url = await newPostgresUrl()
  const [here, there] = [await postgresChannel(url), await postgresChannel(url)]
  const { heard, until } = listenToTopic(here, 't')
  const stranger = new pg.Client({ connectionString: url })
  await stranger.connect()
  const parts = ['not json', '[1]', '{}', '[["t",null]]'].map((text) =>
    JSON.stringify({ from: 'x', part: { id: text, part: 0, of: 1, text } }),
  )
  const notes = ['', 'not json', '1', '{"from":1}', '{"from":"x","messages":[["t",null]]}']
  for (const text of [...notes, ...parts]) {
    await stranger.query('select pg_notify($1, $2)', ['steward', text])
  }
  await stranger.end()
  there.publish('t', { n: 1 })
  await until(has(1))
  assert.deepEqual(heard, [{ n: 1 }])
  await Promise.all([here.close(), there.close()])
})
