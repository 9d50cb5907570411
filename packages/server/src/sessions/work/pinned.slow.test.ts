/** Machines that wait for one session each, as some vendors of micro-VMs run them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tenant } from '../log/fixture.ts'
import { newSession } from '../fixture.ts'
import { databases } from '../../ground/database/fixture.ts'
import type { Database } from '../../ground/database/database.ts'
import { beatItem, claimNext, enqueueItem } from './queue.ts'
import type { WorkItem } from './item.ts'
import { noAttempts } from './item.ts'
import { environment, idleMs } from './queue-fixture.ts'
import { createRandom } from './random-fixture.ts'
import type { Random } from './random-fixture.ts'
import { workStore } from './store.ts'

const roundMs = 3_000
const reclaimMs = 2_000
const mostRounds = 120

type Machine = { session: string; startMs: number; name: string | undefined; isServed: boolean }

const starts: Record<string, (index: number, count: number) => number> = {
  'in step': (index) => index * 10,
  'in step, in the other order': (index, count) => (count - index) * 10,
  'spread over a round': (index, count) => (index * roundMs) / count,
  'spread, in the other order': (index, count) => ((count - index) * roundMs) / count,
}

for (const [kind, open] of Object.entries(databases))
  describe(`machines that wait for one session each, on ${kind}`, () => {
    for (const isNamed of [false, true])
      for (const count of [2, 4, 8])
        for (const [order, startOf] of Object.entries(starts))
          // verifies: work/lapsed-at-random
          it(`are all served: ${count}, ${order}, ${isNamed ? 'named' : 'without a name'}`, async () => {
            await using opened = await open()
            const { database } = opened
            const draws = createRandom(count)
            const machines: Machine[] = []
            for (let index = 0; index < count; index++) {
              const session = await newSession(database)
              await database.write((tx) =>
                enqueueItem(tx, { tenant, environment, session }, { now: index }),
              )
              const name = isNamed ? `machine ${index}` : undefined
              machines.push({ session, startMs: startOf(index, count), name, isServed: false })
            }
            for (let round = 0; round < mostRounds; round++)
              for (const machine of machines.toSorted((a, b) => a.startMs - b.startMs))
                if (!machine.isServed)
                  await poll(database, machine, 1_000_000 + round * roundMs, draws)
            assert.deepEqual(
              machines.map(({ isServed }) => isServed),
              machines.map(() => true),
            )
          })
  })

async function poll(database: Database, machine: Machine, round: number, draws: Random) {
  const now = round + machine.startMs
  const { name } = machine
  if (name !== undefined)
    await database.write((tx) =>
      workStore(tx).seen(tenant, [{ environment_id: environment, worker_id: name, seen_ms: now }]),
    )
  const by = { key: 'key', id: name }
  const at = { now, reclaimMs, by, draw: draws.below(1_000_000) / 1_000_000 }
  const item = await claimNext(database, tenant, environment, at)
  if (item?.session_id !== machine.session) return
  await beat(database, item, now)
  machine.isServed = true
}

const beat = (database: Database, { id, generation }: WorkItem, now: number) =>
  beatItem(
    database,
    { tenant, environment, id },
    { by: { generation }, expected: noAttempts, ttlMs: 300_000 },
    { now, idleMs },
  )
