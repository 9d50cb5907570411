import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RequestRefused } from '@steward/gate/outbound.ts'
import { systemClock } from '@steward/base/time.ts'
import type { TestDatabase } from '../../../ground/database/fixture.ts'
import { shapesOf } from '../../../ground/database/shapes-fixture.ts'
import { newSession } from '../../../sessions/fixture.ts'
import { claimLeaseMs } from '../../../sessions/work/item.ts'
import { acknowledgeItem, claimNext, enqueueItem } from '../../../sessions/work/queue.ts'
import { workStore } from '../../../sessions/work/store.ts'
import { openTestEgress, environment, tenant } from './egress-fixture.ts'
import { echo, upstreamServer } from '../fixture.ts'

const environmentId = 'env_test'

/** An acknowledged claim and its egress. No notification is sent when the claim ends. */
async function claimed(open: () => Promise<TestDatabase>) {
  const opened = await open()
  const { database } = opened
  const upstream = await upstreamServer(echo)
  let now = 1_000_000
  const bench = await openTestEgress(upstream, {
    database,
    clock: { ...systemClock, now: () => now },
  })
  const session = await newSession(database)
  await database.write((tx) =>
    enqueueItem(tx, { tenant, environment: environmentId, session }, { now }),
  )
  const by = { key: 'key', id: undefined }
  const item = await claimNext(database, tenant, environmentId, { now, reclaimMs: 5_000, by })
  assert.ok(item)
  await acknowledgeItem(database, { tenant, environment: environmentId, id: item.id }, by, now)
  const claim = { environmentId, workId: item.id, generation: item.generation }
  const bind = (own: object = {}) =>
    bench.egress.bind({
      ...{ tenant, session, environment, generation: null },
      claim: { ...claim, ...own },
    })
  const fetch = bind().outboundFetch({ credentials: true })
  return {
    ...{ item, database, bind, session },
    pass: (ms: number) => (now += ms),
    ask: async (by = fetch) => (await by('https://api.example/')).status,
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}
const fenced = (error: unknown) =>
  error instanceof RequestRefused && error.refusal.reason === 'fenced'

for (const [kind, open] of Object.entries(shapesOf(import.meta.filename)))
  describe(`the egress of a claim on ${kind}`, () => {
    it('checks the stored item at each request, even without a notification of its loss', async () => {
      await using setup = await claimed(open)
      assert.equal(await setup.ask(), 200)
      const { item, database } = setup
      await database.write((tx) => workStore(tx).change(item, { generation: item.generation + 1 }))
      await assert.rejects(setup.ask(), fenced)
    })

    it('is refused when the lease has expired, and works again when it is extended', async () => {
      await using setup = await claimed(open)
      setup.pass(claimLeaseMs - 1)
      assert.equal(await setup.ask(), 200)
      setup.pass(1)
      await assert.rejects(setup.ask(), fenced)
      const { item, database } = setup
      await database.write((tx) => workStore(tx).change(item, { lease_ms: 2_000_000 }))
      assert.equal(await setup.ask(), 200)
    })

    it('works only for this item, environment and generation', async () => {
      await using setup = await claimed(open)
      for (const own of [{ generation: 0 }, { workId: 'work_0' }, { environmentId: 'env_0' }]) {
        const fetch = setup.bind(own).outboundFetch({ credentials: true })
        await assert.rejects(setup.ask(fetch), fenced)
      }
    })
  })
