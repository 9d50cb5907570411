import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunTurn } from '@steward/harness/turn.ts'
import type { KyselyPlugin } from 'kysely'
import { memoryBus } from '../bus/memory.ts'
import { newId } from '../core/ids.ts'
import { jsonLog } from '../core/log.ts'
import type { Clock } from '../core/time.ts'
import { systemClock } from '../core/time.ts'
import type { Database } from '../database/database.ts'
import { oneDatabase } from '../database/database.ts'
import { databases } from '../database/fixture.ts'
import { tenant } from '../events/fixture.ts'
import { readHead } from '../events/head.ts'
import { readEvents } from '../events/log.ts'
import { hear } from '../events/topics.ts'
import { newSession } from '../sessions/fixture.ts'
import { announce, postEvents } from '../sessions/events/post.ts'
import type { Assembled } from './drain.ts'
import { runner } from './runner.ts'

const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'go' }] }
const interrupt = { type: 'user.interrupt' as const }

/** Reads whose answers come late: until `open`, none does. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isShut = false
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isShut) await promise
      return result
    },
  }
  return { plugin, shut: () => (isShut = true), open: resolve }
}

const parts = {} as Extract<Assembled, { ok: true }>['parts']
const assembled = {
  assemble: async (): Promise<Assembled> => ({
    ok: true,
    ...{ parts, isElsewhere: false, rested: async () => {}, release: () => {} },
  }),
  abandon: async () => {},
  remove: async () => {},
}

describe('a runner', () => {
  it('tries a session again whose turn and lease could not be written, while others run', async () => {
    await using place = await databases.sqlite()
    const { database } = place
    const [busy, broken] = [await newSession(database), await newSession(database)]
    const isRunning = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    let isFull = false
    const full: Database = {
      ...database,
      write: (unit) => (isFull ? Promise.reject(new Error('disk is full')) : database.write(unit)),
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
    const bus = memoryBus()
    let pauses = 0
    const clock: Clock = {
      // The lease does not run out.
      now: () => 0,
      async sleep() {
        isFull = ++pauses < 3
      },
    }
    const work = runner({
      ...{ databases: oneDatabase(full), bus, clock, runTurn, most: 10, ...assembled },
      log: jsonLog((line) => logged.push(line), 'warn'),
    })
    const post = async (session: string) =>
      announce(
        bus,
        tenant,
        session,
        await database.write((tx) => postEvents(tx, tenant, session, [message], 0)),
      )
    try {
      await post(busy)
      await isRunning.promise
      const idle = Promise.withResolvers<void>()
      const look = async () => {
        const { status, owner } = await readHead(database.read, tenant, broken)
        if (status === 'idle' && owner === null && turns === 3) idle.resolve()
      }
      hear(bus, broken, () => void look())
      await post(broken)
      await idle.promise
      assert.equal(pauses, 3)
      assert.match(logged.join(''), /could not be ended[^]*tried again/)
      const rows = await readEvents(database.read, tenant, broken, { limit: 100, extensions: true })
      const types = rows.map(({ type }) => type)
      assert.ok(types.includes('session.warning') && !types.includes('session.error'))
    } finally {
      end.resolve()
      await work.stop()
    }
  })

  it('stops no turn for an interrupt that was meant for the one before', async () => {
    await using place = await databases.sqlite()
    const { database } = place
    const session = await newSession(database)
    const reads = gate()
    const bus = memoryBus()
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
    const work = runner({
      databases: oneDatabase({ ...database, read: database.read.withPlugin(reads.plugin) }),
      bus,
      clock: systemClock,
      log: jsonLog((line) => assert.fail(line), 'error'),
      runTurn,
      ...assembled,
      most: 1,
    })
    const post = async (...events: (typeof message | typeof interrupt)[]) =>
      announce(
        bus,
        tenant,
        session,
        await database.write((tx) => postEvents(tx, tenant, session, events, Date.now())),
      )
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
})
