/** The server of a dream is killed at each step of the dream. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import type { Dream } from '@steward/protocol/dreams.ts'
import { settingsIn, startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { newSession } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const dreams = 4
const memories = 25

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`dreams of a killed server on ${database}`, () => {
    verifies('dreams/crash', 'have one session and one whole store each', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-dreams-'))
      const env = {
        ...(await settingsIn(folder, database)),
      }
      const first = await startServer(env)
      const before = clientsOf(first.base)
      const stores = before.client.beta.memoryStores
      const { id: store } = await stores.create({ name: 'Notes' })
      for (let n = 0; n < memories; n++)
        await stores.memories.create(store, { path: `/${n}.md`, content: `${n}` })
      const inputs = [
        { type: 'memory_store' as const, memory_store_id: store },
        { type: 'sessions' as const, session_ids: [await newSession(before)] },
      ]
      const ask = { inputs, model: 'offline', instructions: 'say: done' }
      const made: string[] = []
      for (let n = 0; n < dreams; n++) made.push((await before.client.beta.dreams.create(ask)).id)
      const path = (id = '') => `/v1/dreams/${id}`
      await until(
        async () => (await before.ask<Dream>('GET', path(made[0]))).body.outputs.length > 0,
      )
      await first.kill()
      await using second = await startServer(env)
      const { client } = clientsOf(second.base)
      await until(async () => {
        const all = await Array.fromAsync(client.beta.dreams.list())
        return all.length === dreams && all.every(({ ended_at }) => ended_at !== null)
      })
      const ended = await Array.fromAsync(client.beta.dreams.list())
      assert.deepEqual(
        ended.map(({ status, error }) => [status, error]),
        ended.map(() => ['completed', null]),
      )
      const sessions = await Array.fromAsync(client.beta.sessions.list({ include_archived: true }))
      const titles = sessions
        .map(({ title }) => title)
        .filter((title) => title?.startsWith('Dream'))
      assert.equal(titles.length, dreams)
      assert.deepEqual(new Set(titles), new Set(made.map((id) => `Dream ${id}`)))
      const outputs = ended.map((each) => each.outputs[0]?.memory_store_id ?? '')
      assert.equal(new Set(outputs).size, dreams)
      assert.equal((await Array.fromAsync(client.beta.memoryStores.list())).length, dreams + 1)
      for (const output of outputs) {
        const copied = await Array.fromAsync(client.beta.memoryStores.memories.list(output))
        assert.equal(copied.length, memories)
      }
      await rm(folder, { recursive: true, force: true })
    })
  })
}
