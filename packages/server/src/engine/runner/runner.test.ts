import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import type { RunTurn } from '@steward/harness/turn.ts'
import type { KyselyPlugin } from 'kysely'
import { memoryBus } from '../../ground/bus/memory.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { jsonLog } from '@steward/base/log.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases, withNoticesOn, withLostNotices } from '../../ground/database/fixture.ts'
import { openFilePerTenant } from '../../ground/database/per-tenant/fixture.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { readHead } from '../../sessions/log/head.ts'
import { readEvents } from '../../sessions/log/log.ts'
import { listenToSession } from '../../sessions/log/topics.ts'
import { newSession } from '../../sessions/fixture.ts'
import { postEvents } from '../../sessions/events/post.ts'
import type { TurnAssembly } from './turn-deps.ts'
import { createRunner } from './runner.ts'

const noneJoins = () => Promise.reject(new Error('no message joins a turn'))

const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'go' }] }
const interrupt = { type: 'user.interrupt' as const }

/** Holds back queries for interrupts until `open`. Other queries, with which a turn begins and ends, return at once. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isShut = false
  const looks = new WeakSet<object>()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      if ('from' in node && JSON.stringify(node.from).includes('inbox')) looks.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (isShut && looks.has(queryId)) await promise
      return result
    },
  }
  return { plugin, shut: () => (isShut = true), open: resolve }
}

const parts = {} as Extract<TurnAssembly, { ok: true }>['parts']
const slots = (total: number) => createShare({ total, percent: 80 })
const assembled = {
  assemble: async (): Promise<TurnAssembly> => ({
    ok: true,
    model: { name: 'priced', price: null },
    ...{
      parts,
      isElsewhere: false,
      rested: async () => {},
      release: () => {},
      readHistory: noneJoins,
    },
  }),
  abandon: async () => {},
  remove: async () => {},
  stopMs: 0,
  pauses: slots(10),
}

/** Turns that run until they are stopped. `begun`: the signal of the first. */
function endlessTurn() {
  const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>()
  const runTurn: RunTurn = async function* ({ signal }) {
    begin(signal)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    return { stop: { type: 'end_turn' }, last: [] }
  }
  return { begun, runTurn }
}

describe('a runner', () => {
  it('tries a session again whose turn and lease could not be written, while others run', async () => {
    await using testDatabase = await databases.sqlite()
    const { database, bus } = testDatabase
    const [busy, broken] = [await newSession(database), await newSession(database)]
    const isRunning = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    let isFull = false
    const full: Database = {
      ...database,
      write: (unit) => (isFull ? Promise.reject(new Error('disk is full')) : database.write(unit)),
      writeStatement: (unit) => full.write(unit),
    }
    const logged: string[] = []
    let turns = 0
    const runTurn: RunTurn = async function* () {
      turns++
      if (turns === 1) {
        isRunning.resolve()
        await end.promise
      } else if (turns === 2) {
        isFull = true
        const said = { id: newId('event'), type: 'agent.message' as const, content: [] }
        yield { type: 'keep', kept: [{ event: said }] }
      }
      return { stop: { type: 'end_turn' }, last: [] }
    }
    let pauses = 0
    const clock: Clock = {
      // The lease does not expire.
      now: () => 0,
      async sleep() {
        isFull = ++pauses < 3
      },
    }
    const work = createRunner({
      ...{ ...testGround(full, { bus, clock }), runTurn, slots: slots(10), ...assembled },
      log: jsonLog((line) => logged.push(line), 'warn'),
    })
    const post = async (session: string) =>
      database.write((tx) => postEvents(tx, tenant, session, [message], 0))
    try {
      await post(busy)
      await isRunning.promise
      const idle = Promise.withResolvers<void>()
      const look = async () => {
        const { status, owner } = await readHead(database.read, tenant, broken)
        if (status === 'idle' && owner === null && turns === 3) idle.resolve()
      }
      listenToSession(bus, broken, () => void look())
      await post(broken)
      await idle.promise
      assert.equal(logged.filter((line) => line.includes('tried again')).length, 3)
      assert.match(logged.join(''), /could not be ended/)
      const rows = await readEvents(database.read, tenant, broken, { limit: 100, extensions: true })
      const types = rows.map(({ type }) => type)
      assert.ok(types.includes('session.warning') && !types.includes('session.error'))
    } finally {
      end.resolve()
      await work.stop()
    }
  })

  for (const [dialect, open] of Object.entries(shapesOf(import.meta.filename)))
    it(`runs others' sessions beside a tenant that wants all of it, and its waiting ones as soon as there is room, on ${dialect}`, async () => {
      await using testDatabase = await open()
      const { database, bus } = testDatabase
      const running = new Map<string, () => void>()
      const counted: { least: number; met: () => void }[] = []
      const count = (least: number) =>
        new Promise<void>((met) => {
          counted.push({ least, met })
          look()
        })
      const look = () => {
        for (const { least, met } of counted) if (running.size >= least) met()
      }
      const work = createRunner({
        ...{ ...testGround(database, { bus }), slots: slots(10) },
        ...assembled,
        log: jsonLog((line) => assert.fail(line), 'error'),
        assemble: async ({ session }) => ({
          ok: true,
          parts: { ...parts, cacheKey: session },
          model: { name: 'priced', price: null },
          ...{
            isElsewhere: false,
            rested: async () => {},
            release: () => {},
            readHistory: noneJoins,
          },
        }),
        runTurn: async function* ({ cacheKey }) {
          await new Promise<void>((end) => {
            running.set(cacheKey, end)
            look()
          })
          running.delete(cacheKey)
          return { stop: { type: 'end_turn' }, last: [] }
        },
      })
      const post = async (tenant: string) => {
        const session = await newSession(database, 'idle', tenant)
        await database.write((tx) => postEvents(tx, tenant, session, [message], Date.now()))
        return session
      }
      try {
        const many = []
        for (let n = 0; n < 15; n++) many.push(await post('greedy'))
        await count(8)
        const modest = await post('modest')
        await count(9)
        assert.ok(running.has(modest))
        assert.equal(many.filter((each) => running.has(each)).length, 8)
        const left = many.filter((each) => !running.has(each))
        for (const end of running.values()) end()
        while (!left.every((each) => running.has(each)))
          await new Promise((resolve) => setTimeout(resolve, 5))
      } finally {
        for (const end of running.values()) end()
        await work.stop()
      }
    })

  it('stops no turn for an interrupt that was meant for the one before', async () => {
    await using testDatabase = await databases.sqlite()
    const { database, bus } = testDatabase
    const session = await newSession(database)
    const reads = gate()
    const turns = Array.from({ length: 2 }, () => ({
      begun: Promise.withResolvers<AbortSignal>(),
      end: Promise.withResolvers<void>(),
    }))
    let count = 0
    const runTurn: RunTurn = async function* ({ signal }) {
      const turn = turns[count++]
      turn?.begun.resolve(signal)
      await turn?.end.promise
      return { stop: { type: 'end_turn' }, last: [] }
    }
    const work = createRunner({
      ...testGround(
        {
          ...database,
          read: (database.read as Queries).withPlugin(reads.plugin),
        },
        { bus, log: jsonLog((line) => assert.fail(line), 'error') },
      ),
      runTurn,
      ...assembled,
      slots: slots(1),
    })
    const post = async (...events: (typeof message | typeof interrupt)[]) =>
      database.write((tx) => postEvents(tx, tenant, session, events, Date.now()))
    try {
      await post(message)
      await turns[0]?.begun.promise
      reads.shut()
      await post(interrupt, message)
      turns[0]?.end.resolve()
      const second = await turns[1]?.begun.promise
      reads.open()
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(second?.aborted, false)
    } finally {
      turns[1]?.end.resolve()
      await work.stop()
    }
  })

  it('stops a turn whose interrupt was notified by a message that was lost', async () => {
    // Intervals are mocked, so that the look that runs each second does not find the interrupt.
    mock.timers.enable({ apis: ['setInterval'] })
    await using testDatabase = await databases.sqlite()
    const { database, bus } = testDatabase
    const session = await newSession(database)
    const { begun, runTurn } = endlessTurn()
    const work = createRunner({
      ...testGround(database, { bus, log: jsonLog((line) => assert.fail(line), 'error') }),
      runTurn,
      ...assembled,
      slots: slots(1),
    })
    const post = (event: typeof message | typeof interrupt, to = database) =>
      to.write((tx) => postEvents(tx, tenant, session, [event], Date.now()))
    try {
      await post(message)
      const signal = await begun
      await post(interrupt, withLostNotices(database))
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve))
      bus.miss()
      await Promise.race([stopped, systemClock.sleep(2_000, new AbortController().signal)])
      assert.ok(signal.aborted)
    } finally {
      await work.stop()
      mock.timers.reset()
    }
  })

  it('stops turns by interrupts also in a round in which it cannot look for due sessions', async () => {
    await using testDatabase = await databases.sqlite()
    const { database, bus } = testDatabase
    const session = await newSession(database)
    const { begun, runTurn } = endlessTurn()
    const one = oneDatabase(database)
    const work = createRunner({
      ...testGround(
        {
          ...one,
          due() {
            throw new Error('it fails')
          },
        },
        { log: jsonLog((line) => assert.fail(line), 'error') },
      ),
      ...{ bus, clock: systemClock, runTurn, slots: slots(1), ...assembled },
    })
    const post = (event: typeof message | typeof interrupt, to = database) =>
      to.write((tx) => postEvents(tx, tenant, session, [event], Date.now()))
    try {
      await post(message)
      const signal = await begun
      await post(interrupt, withLostNotices(database))
      await assert.rejects(work.lookForWork(), /it fails/)
      assert.ok(signal.aborted)
    } finally {
      await work.stop()
    }
  })

  it('extends the leases of its other sessions where one database refuses writes', async () => {
    const [failing, other] = ['wrkspc_a', 'wrkspc_b'] as const
    await using at = await openFilePerTenant([failing, other])
    const bus = memoryBus()
    const clock = { ...systemClock, now: () => now }
    let now = 1_000
    let turns = 0
    const areRunning = Promise.withResolvers<void>()
    const runTurn: RunTurn = async function* ({ signal }) {
      if (++turns === 2) areRunning.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      return { stop: { type: 'end_turn' }, last: [] }
    }
    const opened = await at.databases.open(failing)
    let isFailing = false
    const broken: Database = {
      ...opened,
      write: (unit) => (isFailing ? Promise.reject(new Error('it fails')) : opened.write(unit)),
    }
    const work = createRunner({
      ...testGround(
        {
          ...at.databases,
          open: async (name) => (name === failing ? broken : at.databases.open(name)),
        },
        { log: jsonLog(() => {}, 'error') },
      ),
      ...{ bus, clock, runTurn, slots: slots(10), ...assembled },
    })
    try {
      const { read } = await at.databases.open(other)
      let session = ''
      for (const name of [failing, other]) {
        const database = await at.databases.open(name)
        session = await newSession(database, 'idle', name)
        const post = (tx: Queries) => postEvents(tx, name, session, [message], now)
        await withNoticesOn(database, bus).write(post)
      }
      await areRunning.promise
      const { expires_at: before } = await readHead(read, other, session)
      isFailing = true
      now += 5_000
      for (const { name, run } of work.jobs)
        if (name === 'extend leases of sessions') await run(new AbortController().signal)
      const leaseEnd = async () => (await readHead(read, other, session)).expires_at
      while ((await leaseEnd()) === before) await new Promise((resolve) => setImmediate(resolve))
    } finally {
      isFailing = false
      await work.stop()
    }
  })
})
