import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import { databases } from '../../ground/database/fixture.ts'
import { postEvents } from '../../sessions/events/post.ts'
import { newSession } from '../../sessions/fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { readWaiting } from '../../sessions/log/inbox.ts'
import type { TurnAssembly } from './turn-deps.ts'
import { createRunner } from './runner.ts'
import type { TestDatabase } from '../../ground/database/fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'

const noneJoins = () => Promise.reject(new Error('no message joins a turn'))

const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'go' }] }
const interrupt = { type: 'user.interrupt' as const }
const parts = {} as Extract<TurnAssembly, { ok: true }>['parts']

/** A session with a slot pauses its turn, and another session waits. `wake` ends the pause. */
async function pausing({ database, bus }: TestDatabase, total: number) {
  const [one, other] = [await newSession(database), await newSession(database)]
  const asleep = Promise.withResolvers<void>()
  const wake = Promise.withResolvers<void>()
  const order: string[] = []
  const ran = { one: Promise.withResolvers<void>(), other: Promise.withResolvers<void>() }
  const end = Promise.withResolvers<void>()
  const clock: Clock = {
    now: () => 0,
    sleep: (_ms, signal) => {
      asleep.resolve()
      const ended = new Promise<void>((resolve) =>
        signal?.addEventListener('abort', () => resolve()),
      )
      return Promise.race([wake.promise, ended])
    },
  }
  const work = createRunner({
    ...testGround(database, { bus, clock }),
    abandon: async () => {},
    remove: async () => {},
    stopMs: 0,
    log: jsonLog((line) => assert.fail(line), 'error'),
    slots: createShare({ total: 1, percent: 100 }),
    pauses: createShare({ total, percent: 100 }),
    assemble: async ({ session }) => ({
      ok: true,
      parts: { ...parts, cacheKey: session },
      model: { name: 'priced', price: null },
      ...{ isElsewhere: false, rested: async () => {}, release: () => {}, readHistory: noneJoins },
    }),
    runTurn: async function* ({ cacheKey, sleep, signal }) {
      if (cacheKey === one) {
        order.push('one pauses')
        await sleep(1_000, signal)
        order.push(signal.aborted ? 'one is stopped' : 'one goes on')
        ran.one.resolve()
      } else {
        order.push('other begins')
        ran.other.resolve()
        await end.promise
        order.push('other ends')
      }
      return { stop: { type: 'end_turn' }, last: [] }
    },
  })
  const post = (session: string, ...events: (typeof message | typeof interrupt)[]) =>
    database.write((tx) => postEvents(tx, tenant, session, events, 0))
  await post(one, message)
  await asleep.promise
  await post(other, message)
  return { order, one, work, post, ran, wake: wake.resolve, end: end.resolve }
}

describe('the slot of a session', () => {
  it('gives the slot of a turn that waits for its model to another, and continues the turn afterwards', async () => {
    await using testDatabase = await databases.sqlite()
    const { order, work, ran, wake, end } = await pausing(testDatabase, 1)
    try {
      await ran.other.promise
      wake()
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(order, ['one pauses', 'other begins'])
      end()
      await ran.one.promise
      assert.deepEqual(order, ['one pauses', 'other begins', 'other ends', 'one goes on'])
    } finally {
      end()
      wake()
      await work.stop()
    }
  })

  it('stops a turn that has no slot when it is interrupted', async () => {
    await using testDatabase = await databases.sqlite()
    const { order, one, post, work, ran, end } = await pausing(testDatabase, 1)
    try {
      await ran.other.promise
      await post(one, interrupt)
      await ran.one.promise
      assert.deepEqual(order, ['one pauses', 'other begins', 'one is stopped'])
    } finally {
      end()
      await work.stop()
    }
  })

  it('begins the next turn of a session only when it has a slot again', async () => {
    await using testDatabase = await databases.sqlite()
    const { order, one, post, work, ran, wake, end } = await pausing(testDatabase, 1)
    try {
      await ran.other.promise
      await post(one, interrupt, message)
      await ran.one.promise
      while ((await readWaiting(testDatabase.database.read, tenant, one)).length > 0)
        await new Promise((resolve) => setImmediate(resolve))
      for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(order, ['one pauses', 'other begins', 'one is stopped'])
      end()
      while (order.length < 5) await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(order.slice(3), ['other ends', 'one pauses'])
    } finally {
      end()
      wake()
      await work.stop()
    }
  })

  it('keeps the slot of a turn that waits where as many as may wait without one already', async () => {
    await using testDatabase = await databases.sqlite()
    const { order, work, ran, wake, end } = await pausing(testDatabase, 0)
    try {
      wake()
      await ran.other.promise
      assert.deepEqual(order, ['one pauses', 'one goes on', 'other begins'])
    } finally {
      end()
      await work.stop()
    }
  })
})
