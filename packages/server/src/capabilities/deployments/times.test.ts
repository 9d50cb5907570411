import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { dueTime, jitterOf, nextTime, timesAfter } from './times.ts'

const minute = 60_000
/** All minutes of the expressions below, and all changes of the clocks, are multiples of this step. */
const step = 10 * minute
const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe']
const expressions = [
  '30 2 * * *',
  '30 1 * * *',
  '0-30/30 */3 * * *',
  '10 0-4/2 1,15 * 0',
  '0 9 * * 1-5',
]

/** True when the field of an expression includes the value. */
function isIn(field: string, value: number): boolean {
  return field.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/')
    const [from = '0', to = from] = range === '*' ? ['0', '99'] : range.split('-')
    const least = Number(from)
    return value >= least && value <= Number(to) && (value - least) % Number(step) === 0
  })
}

/** Evaluates an expression for one minute, from the text that the clock shows in that minute. */
function fires(expression: string, text: string): boolean {
  const [weekday = '', month, day, , hour, minutes] = text.split(/[ /,:]+/)
  const [m = '', h = '', dom = '', mon = '', dow = ''] = expression.split(' ')
  const week = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(weekday)
  const byDay = isIn(dom, Number(day))
  const byWeek = isIn(dow, week)
  const isDay = dom !== '*' && dow !== '*' ? byDay || byWeek : byDay && byWeek
  return isIn(m, Number(minutes)) && isIn(h, Number(hour)) && isIn(mon, Number(month)) && isDay
}

describe('times of a schedule', () => {
  it('are those of a minute-by-minute reckoning over a year in three zones', async () => {
    const [begin, end] = [Date.UTC(2026, 6, 1), Date.UTC(2027, 6, 1)]
    for (const timezone of zones) {
      const clock = new Intl.DateTimeFormat('en-US', {
        ...{ timeZone: timezone, hourCycle: 'h23', weekday: 'short', year: 'numeric' },
        ...{ month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
      })
      const expected = new Map(expressions.map((expression) => [expression, [] as number[]]))
      for (let at = begin; at < end; at += step) {
        const text = clock.format(at)
        for (const [expression, times] of expected) if (fires(expression, text)) times.push(at)
      }
      for (const [expression, times] of expected) {
        const found = await timesAfter({ expression, timezone }, begin - 1, times.length)
        assert.deepEqual(found, times, `${expression} in ${timezone}`)
        assert.ok(times.length > 20, expression)
      }
    }
  })

  // verifies: deployments/schedule/clock
  it('skip a time that the clock skips, and have one twice that the clock shows twice', async () => {
    const timezone = 'America/New_York'
    const of = async (expression: string, after: string) =>
      (await timesAfter({ expression, timezone }, Date.parse(after), 2)).map((at) =>
        new Date(at).toISOString(),
      )
    assert.deepEqual(await of('30 2 * * *', '2027-03-13T12:00:00Z'), [
      '2027-03-15T06:30:00.000Z',
      '2027-03-16T06:30:00.000Z',
    ])
    assert.deepEqual(await of('30 1 * * *', '2026-11-01T00:00:00Z'), [
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:30:00.000Z',
    ])
  })

  // verifies: deployments/schedule/clock-once
  it('run once at each change of the clock where the schedule says so', async () => {
    const of = async (expression: string, after: string, timezone = 'America/New_York') => {
      const schedule = { expression, timezone, clock_changes: 'run_once' as const }
      const times = await timesAfter(schedule, Date.parse(after), 3)
      let last = Date.parse(after)
      for (const at of times) {
        const [next] = await timesAfter(schedule, last, 1)
        assert.equal(next, at, 'asked one by one')
        last = at
      }
      return times.map((at) => new Date(at).toISOString().slice(5, 16))
    }
    const spring = '2027-03-13T12:00:00Z'
    assert.deepEqual(await of('30 2 * * *', spring), ['03-14T07:00', '03-15T06:30', '03-16T06:30'])
    assert.deepEqual(await of('*/20 2-3 * * *', '2027-03-14T06:00:00Z'), [
      '03-14T07:00',
      '03-14T07:20',
      '03-14T07:40',
    ])
    const autumn = '2026-11-01T00:00:00Z'
    assert.deepEqual(await of('30 1 * * *', autumn), ['11-01T05:30', '11-02T06:30', '11-03T06:30'])
    assert.deepEqual(await of('30 1,2 * * *', autumn), [
      '11-01T05:30',
      '11-01T07:30',
      '11-02T06:30',
    ])
    // This clock changes by half an hour.
    const island = 'Australia/Lord_Howe'
    assert.deepEqual(await of('15 2 * * *', '2026-10-03T00:00:00Z', island), [
      '10-03T15:30',
      '10-04T15:15',
      '10-05T15:15',
    ])
  })

  it('give the same from wherever they are asked, one by one', async () => {
    const schedule = { expression: '*/30 1 * * *', timezone: 'America/New_York' }
    const begin = Date.parse('2026-10-31T12:00:00Z')
    const all = await timesAfter(schedule, begin, 8)
    let after = begin
    for (const at of all) {
      const [next] = await timesAfter(schedule, after, 1)
      assert.equal(next, at)
      after = at
    }
  })

  it('need one clock of a zone, however callers spell its name', async () => {
    const formats = mock.method(Intl, 'DateTimeFormat')
    const spellings = ['Pacific/Chatham', 'pacific/chatham', 'PACIFIC/CHATHAM', 'paCIFIC/chaTHAM']
    const times = spellings.map((timezone) =>
      timesAfter({ expression: '0 9 * * *', timezone }, 0, 1),
    )
    assert.equal(new Set((await Promise.all(times)).flat()).size, 1)
    const clocks = formats.mock.calls.filter(({ arguments: [, options] }) => options?.calendar)
    assert.equal(clocks.length, 1)
    formats.mock.restore()
  })

  it('are none for a day that no month has', async () => {
    const schedule = { expression: '0 0 31 2 *', timezone: 'UTC' }
    assert.deepEqual(await timesAfter(schedule, 0, 1), [])
  })

  // verifies: deployments/schedule/jitter
  it('are followed by their runs within 15 % of the interval, or 5 s to 9 minutes', () => {
    const ids = Array.from({ length: 200 }, (_, index) => `depl_${index}`)
    const most = (interval: number) => Math.max(...ids.map((id) => jitterOf(id, interval)))
    for (const [interval, bound] of [
      [10_000, 5_000],
      [10 * minute, 1.5 * minute],
      [24 * 60 * minute, 9 * minute],
    ] as const) {
      assert.ok(most(interval) < bound && most(interval) > bound * 0.9)
      assert.ok(ids.every((id) => jitterOf(id, interval) === jitterOf(id, interval)))
    }
  })

  // verifies: deployments/schedule/missed
  it('run the latest that was missed if it is recent, and skip the others', async () => {
    const schedule = { type: 'cron', expression: '0 * * * *', timezone: 'UTC' } as const
    const at = Date.parse('2026-11-02T10:00:00Z')
    const next = await nextTime('depl_1', schedule, at - 1)
    assert.equal(next?.next_ms, at)
    const jitter = (next?.due_ms ?? 0) - at
    const hours = (count: number) => at + count * 60 * minute
    const run = async (now: number) => dueTime('depl_1', schedule, { next_ms: at }, now)
    assert.deepEqual((await run(at + jitter)).run, at)
    assert.deepEqual((await run(at + jitter)).next?.next_ms, hours(1))
    const late = await run(hours(5) + jitter + 1_000)
    assert.deepEqual([late.run, late.next?.next_ms], [hours(5), hours(6)])
    const tooLate = await run(hours(5) + 20 * minute)
    assert.deepEqual([tooLate.run, tooLate.next?.next_ms], [undefined, hours(6)])
  })
})
