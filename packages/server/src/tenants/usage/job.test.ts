import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import { openForRaces } from '../../ground/database/race-fixture.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import type { Tables } from '../../ground/database/tables.ts'
import { sumOldUsage } from './job.ts'
import { readUsage, usageStore } from './store.ts'

const start = Date.UTC(2030, 0, 1)

const hour = (at: number, session: string, cost: number): Tables['usage_hours'] => ({
  ...{ tenant_id: 'wrkspc_a', hour_ms: start + at, session_id: session, model: 'm', price: '' },
  ...{ agent_id: 'agent_1', requests: 1, input_tokens: 2, output_tokens: 3 },
  ...{ cache_read_input_tokens: 4, cache_creation_input_tokens: 5, list_cost: cost },
})

for (const [kind, open] of Object.entries(everyShape))
  void describe(`old usage on ${kind}`, () => {
    void it('is kept by days, and a report says the same before and after', async () => {
      await using opened = await open()
      const { database } = opened
      const rows = [
        hour(0, 'a', 10),
        hour(23 * hourMs, 'b', 20),
        hour(dayMs, 'a', 40),
        { ...hour(hourMs, 'c', 80), tenant_id: 'wrkspc_b' },
      ]
      await database.write((tx) => tx.insertInto('usage_hours').values(rows).execute())
      const report = async () => {
        const span = { fromMs: start, untilMs: start + 3 * dayMs, widthMs: dayMs }
        const found = await readUsage(database.read, 'wrkspc_a', span, ['model', 'agent_id'], 100)
        return found.map(({ bucket_ms, requests, output_tokens, list_cost, unpriced }) => [
          (bucket_ms - start) / dayMs,
          ...[requests, output_tokens, list_cost, unpriced],
        ])
      }
      const expected = [
        [0, 2, 6, 30, 1],
        [1, 1, 3, 40, 1],
      ]
      assert.deepEqual(await report(), expected)
      // The day has not ended at this time.
      assert.equal(await sumOldUsage(database, start + dayMs - 1), true)
      const hours = () => database.read.selectFrom('usage_hours').select('list_cost').execute()
      assert.equal((await hours()).length, 4)
      assert.equal(await sumOldUsage(database, start + dayMs + hourMs), true)
      assert.deepEqual(
        (await hours()).map(({ list_cost }) => list_cost),
        [40],
      )
      assert.deepEqual(await report(), expected)
      await database.write((tx) =>
        tx
          .insertInto('usage_hours')
          .values(hour(0, 'late', 5))
          .execute(),
      )
      await sumOldUsage(database, start + dayMs)
      assert.deepEqual((await report())[0], [0, 3, 9, 35, 1])
    })
  })

void it('a day that two servers sum up at the same time counts once', async () => {
  await using at = await openForRaces()
  const { database, race } = at
  await database.write((tx) =>
    tx
      .insertInto('usage_hours')
      .values(hour(0, 'a', 10))
      .execute(),
  )
  await race(
    (tx) => usageStore(tx).sumDay('wrkspc_a', start),
    (tx) => usageStore(tx).sumDay('wrkspc_a', start),
  )
  const days = await database.read
    .selectFrom('usage_days')
    .select(['requests', 'list_cost'])
    .execute()
  assert.deepEqual(days, [{ requests: 1, list_cost: 10 }])
})
