import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { commitMs, periodEnd, periodName, recentSpend, periodStart } from './recent-spend.ts'

const day = 86_400_000
const hour = 3_600_000

/** Two processes over one table of hours, with a clock that is set. */
function processes(start: number) {
  const clock = { ...systemClock, now: () => at.now }
  const at = { now: start }
  const hours = new Map<number, number>()
  let reads = 0
  const read = async (
    _: string,
    { fromMs, untilMs = Infinity }: { fromMs: number; untilMs?: number },
  ) => {
    reads++
    return [...hours].reduce(
      (sum, [hourMs, units]) => sum + (hourMs >= fromMs && hourMs < untilMs ? units : 0),
      0,
    )
  }
  const commit = (units: number) => {
    const hourMs = at.now - (at.now % hour)
    hours.set(hourMs, (hours.get(hourMs) ?? 0) + units)
  }
  const [one, other] = [recentSpend(read, clock), recentSpend(read, clock)]
  return { at, one, other, commit, reads: () => reads }
}

void describe('the spending of a workspace', () => {
  void it('holds what this process has added at once, and what others have within a second', async () => {
    const { at, one, other, commit, reads } = processes(Date.UTC(2030, 0, 15, 12))
    assert.deepEqual(await one.read('a'), { daily: 0, monthly: 0, isUnsure: false })
    other.add('a', 5)
    commit(5)
    one.add('a', 7)
    assert.equal((await one.read('a')).daily, 7)
    commit(7)
    assert.equal((await other.read('a')).isUnsure, true)
    at.now += commitMs
    assert.deepEqual(await other.read('a'), { daily: 12, monthly: 12, isUnsure: false })
    at.now += 1_000 - commitMs
    assert.deepEqual(await one.read('a'), { daily: 12, monthly: 12, isUnsure: false })
    const before = reads()
    for (let n = 0; n < 100; n++) await one.read('a')
    assert.equal(reads(), before)
    assert.equal((await one.read('b')).daily, 12, 'the stub has one table')
  })

  void it('asks once for many that wait at the same time', async () => {
    const { one, reads } = processes(Date.UTC(2030, 0, 15, 12))
    await Promise.all(Array.from({ length: 50 }, () => one.read('a')))
    assert.ok(reads() <= 4, String(reads()))
  })

  void it('counts a request whose commit came after a read that still runs', async () => {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let committed = 0
    const read = async (_: string, { untilMs }: { untilMs?: number }) => {
      const seen = untilMs === undefined ? committed : 0
      if (untilMs === undefined && seen === 0) {
        begun.resolve()
        await end.promise
      }
      return seen
    }
    const clock = { ...systemClock, now: () => at }
    let at = Date.UTC(2030, 0, 15, 12)
    const spent = recentSpend(read, clock)
    const early = spent.read('a')
    await begun.promise
    spent.add('a', 5)
    committed = 5
    spent.forget('a', at)
    at += 1
    spent.add('a', 7)
    end.resolve()
    await early
    // The second request is not committed yet.
    assert.equal((await spent.read('a')).daily, 5 + 7)
  })

  void it('begins anew with each day and month of UTC, and forgets no hour between', async () => {
    const { at, one, commit } = processes(Date.UTC(2030, 0, 30))
    let month = 0
    for (let n = 0; n < 48; n++) {
      commit(1)
      month++
      const { daily, monthly } = await one.read('a')
      assert.deepEqual([daily, monthly], [(n % 24) + 1, month], `hour ${n}`)
      at.now += hour
    }
    assert.deepEqual(await one.read('a'), { daily: 0, monthly: 0, isUnsure: false })
  })

  void it('has periods whose bounds are those of UTC, in leap years and at the end of years too', () => {
    const leap = Date.UTC(2028, 1, 29, 23, 59, 59, 999)
    assert.deepEqual(
      [periodStart('daily', leap), periodEnd('daily', leap), periodEnd('monthly', leap)],
      [Date.UTC(2028, 1, 29), leap + 1, leap + 1],
    )
    const last = Date.UTC(2029, 11, 31, 5)
    assert.equal(periodEnd('monthly', last), Date.UTC(2030, 0, 1))
    assert.equal(periodStart('monthly', last), Date.UTC(2029, 11, 1))
    assert.deepEqual(
      [periodName('daily', last), periodName('monthly', last)],
      ['2029-12-31', '2029-12'],
    )
    assert.equal(periodEnd('daily', last) - periodStart('daily', last), day)
  })
})
