import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunTurn } from '@steward/harness/turn.ts'
import type { KyselyPlugin } from 'kysely'
import { memoryBus } from '../bus/memory.ts'
import { jsonLog } from '../core/log.ts'
import { systemClock } from '../core/time.ts'
import { oneDatabase } from '../database/database.ts'
import { databases } from '../database/fixture.ts'
import { tenant } from '../events/fixture.ts'
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

describe('a runner', () => {
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
    const parts = {} as Extract<Assembled, { ok: true }>['parts']
    const work = runner({
      databases: oneDatabase({ ...database, read: database.read.withPlugin(reads.plugin) }),
      bus,
      clock: systemClock,
      log: jsonLog((line) => assert.fail(line), 'error'),
      runTurn,
      assemble: async () => ({ ok: true, parts, rested: async () => {}, release: () => {} }),
      abandon: async () => {},
      remove: async () => {},
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
