import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs, hourMs } from '@steward/base/settings/kinds.ts'
import { everyShape } from '../../../ground/database/shapes-fixture.ts'
import { spendLimitStore } from '../../limits/spending/store.ts'
import { sumOldUsage } from '../job.ts'
import type { MessageRequestRow } from './store.ts'
import { messageUsageStore, priceText } from './store.ts'
import { readUsage } from '../store.ts'

const start = Date.UTC(2030, 0, 1)
const price = { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 }
const usage = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 1,
  cache_creation_input_tokens: 2,
}

const request = (id: string, at: number, key = 'apikey_1'): MessageRequestRow => ({
  tenant_id: 'wrkspc_a',
  id,
  api_key_id: key,
  model: 'm',
  price: priceText(price),
  input_tokens: 7,
  begun_ms: start + at,
  owner: 'a process',
})

for (const [kind, open] of Object.entries(everyShape))
  void describe(`usage of messages on ${kind}`, () => {
    void it('counts a request once, by its key, and is kept by days', async () => {
      await using opened = await open()
      const { database } = opened
      const rows = [request('a', hourMs), request('b', 5 * hourMs), request('c', 0, 'apikey_2')]
      for (const row of rows) {
        await database.write((tx) => messageUsageStore(tx).begin(row))
        const end = () => database.write((tx) => messageUsageStore(tx).end(row, usage))
        assert.deepEqual([await end(), await end()], [true, false])
      }
      const report = async () => {
        const span = { fromMs: start, untilMs: start + dayMs, widthMs: dayMs }
        const found = await readUsage(database.read, 'wrkspc_a', span, ['api_key_id'], 100)
        return found.map((row) => [row.api_key_id, Number(row.requests), Number(row.list_cost)])
      }
      const expected = [
        ['apikey_1', 2, 46],
        ['apikey_2', 1, 23],
      ]
      assert.deepEqual(await report(), expected)
      const spent = () => spendLimitStore(database.read).spent('wrkspc_a', { fromMs: start })
      assert.equal(await spent(), 69)
      await sumOldUsage(database, start + 2 * dayMs)
      const hours = await database.read.selectFrom('message_usage').select('hour_ms').execute()
      assert.deepEqual([...new Set(hours.map(({ hour_ms }) => Number(hour_ms)))], [start])
      assert.deepEqual([await report(), await spent()], [expected, 69])
      assert.equal(await sumOldUsage(database, start + 2 * dayMs), true)
    })

    void it('shows the requests of other processes alone', async () => {
      await using opened = await open()
      const { database } = opened
      await database.write((tx) => messageUsageStore(tx).begin(request('a', 0)))
      const store = messageUsageStore(database.read)
      assert.deepEqual(await store.ofOthers('a process', 10), [])
      assert.equal((await store.ofOthers('another', 10))[0]?.id, 'a')
    })
  })
