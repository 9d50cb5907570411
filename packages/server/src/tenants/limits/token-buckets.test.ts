import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { Database } from '../../ground/database/database.ts'
import { newPostgresUrl } from '../../ground/database/fixture.ts'
import { postgresDatabase } from '../../ground/database/postgres.ts'
import { drawnBuckets, mostDrawn } from './token-buckets.ts'
import { toRatePace } from './gcra.ts'
import { rateStore } from './store.ts'

const hour = 3_600_000
/** The rate is so slow that a test refills nothing. */
const pace = toRatePace({ limit: 100, periodMs: 100 * hour })

describe('buckets that processes share', () => {
  let databases: [Database, Database]
  let draws = 0
  before(async () => {
    const url = await newPostgresUrl()
    databases = [await postgresDatabase(url), await postgresDatabase(url)]
  })
  after(() => Promise.all(databases.map((each) => each.close())))

  const processes = () =>
    databases.map((database) =>
      drawnBuckets((...asked) => {
        draws++
        return database.writeStatement((db) => rateStore(db).draw(...asked))
      }, systemClock),
    )

  async function attempt(at: ReturnType<typeof processes>, key: string, attempts: number) {
    const verdicts = await Promise.all(
      Array.from({ length: attempts }, async (_, n) => at[n % at.length]?.take(key, pace)),
    )
    return verdicts.filter((each) => each?.isAdmitted).length
  }

  it('admit exactly 100 of 400 attempts at two processes, and ask the database once for five', async () => {
    draws = 0
    assert.equal(await attempt(processes(), 'exact', 400), 100)
    assert.ok(draws <= 100 / mostDrawn(pace) + 2, `${draws} statements`)
  })

  it('admit no more than the limit and the tokens of the processes, however many were unspent', async () => {
    const both = processes()
    // Each process has drawn tokens and still holds all except one.
    assert.equal(await attempt(both, 'held', 2), 2)
    await databases[0].write(async (tx) => {
      await tx.updateTable('rate_limits').set({ full_at: 0 }).where('key', '=', 'held').execute()
    })
    const held = 2 * (mostDrawn(pace) - 1)
    const admitted = await attempt(both, 'held', 400)
    assert.equal(admitted, 100 + held)
  })

  it('ask the database no more while they are empty', async () => {
    const both = processes()
    await attempt(both, 'empty', 400)
    draws = 0
    assert.equal(await attempt(both, 'empty', 400), 0)
    assert.equal(draws, 0)
  })

  it('refill by the clock of the database', async () => {
    const quick = toRatePace({ limit: 10, periodMs: 100 })
    const [one] = processes()
    assert.ok(one)
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, async () => one.take('quick', quick)),
    )
    assert.ok(verdicts.some(({ isAdmitted }) => !isAdmitted))
    await new Promise((resolve) => setTimeout(resolve, 110))
    assert.equal((await one.take('quick', quick)).isAdmitted, true)
  })

  it('say how many requests remain, and when they are full again', async () => {
    const [one, other] = processes()
    assert.ok(one && other)
    const first = await one.take('left', pace)
    assert.equal(first.remaining, 99)
    const second = await other.take('left', pace)
    assert.equal(second.remaining, 94)
    assert.ok(second.fullAtMs > Date.now() + 9.9 * hour)
    assert.ok(second.fullAtMs < Date.now() + 10.1 * hour)
  })

  it('are removed when they are full', async () => {
    const [one] = processes()
    assert.ok(one)
    const key = 'full soon'
    await one.take(key, toRatePace({ limit: 1_000, periodMs: 1 }))
    await one.take('full late', pace)
    await databases[0].writeStatement((db) => rateStore(db).removeFull())
    const rows = await databases[0].read.selectFrom('rate_limits').select('key').execute()
    const keys = rows.map((row) => row.key)
    assert.ok(keys.includes('full late') && !keys.includes(key))
  })

  it('reject what they are asked while the database refuses, and serve again after it', async () => {
    let isBroken = true
    const buckets = drawnBuckets(async (...asked) => {
      if (isBroken) throw new Error('lost')
      return databases[0].writeStatement((db) => rateStore(db).draw(...asked))
    }, systemClock)
    await assert.rejects(async () => buckets.take('broken', pace), /lost/)
    isBroken = false
    assert.equal((await buckets.take('broken', pace)).isAdmitted, true)
  })
})
