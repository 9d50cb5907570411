import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { claimLeaseMs, noAttempts } from './item.ts'
import {
  appendWorkerCall,
  environment,
  firstWorker,
  secondWorker,
  claimedItem,
  workRef,
} from './queue-fixture.ts'

for (const [kind, open] of Object.entries(everyShape)) {
  const setup = () => workRef(open)

  describe(`work that its worker let lapse on ${kind}`, () => {
    // verifies: work/lapsed-last
    it('is not offered first to the worker that let it lapse', async () => {
      await using here = await setup()
      await here.put()
      const mine = await claimedItem(here.claim(5_000, firstWorker))
      await here.more()
      here.pass(5_000)
      await here.asks(firstWorker)
      const other = await claimedItem(here.claim(5_000, firstWorker))
      assert.notEqual(other.id, mine.id)
      assert.equal(
        (await claimedItem(here.claim(5_000, firstWorker))).id,
        mine.id,
        'nobody else asks',
      )
      here.pass(5_000)
      await here.asks(secondWorker)
      assert.equal(await here.claim(5_000, firstWorker), undefined, 'another asks, and can have it')
      const ids = [
        await claimedItem(here.claim(5_000, secondWorker)),
        await claimedItem(here.claim(5_000, secondWorker)),
      ]
      assert.deepEqual(new Set(ids.map(({ id }) => id)), new Set([mine.id, other.id]))
    })

    // verifies: work/lapsed-last
    it('is offered again to the worker that let it lapse when no other has taken it for half a minute', async () => {
      await using here = await setup()
      await here.put()
      const mine = await claimedItem(here.claim(5_000, firstWorker))
      await here.beat(mine, noAttempts)
      here.pass(claimLeaseMs + 29_999)
      await here.asks(secondWorker)
      assert.equal(await here.claim(5_000, firstWorker), undefined)
      here.pass(1)
      assert.equal((await claimedItem(here.claim(5_000, firstWorker))).id, mine.id)
    })

    // verifies: work/lapsed
    it('is counted as queued when its lease or reservation has run out, and announced once', async () => {
      await using here = await setup()
      await here.put()
      await appendWorkerCall(here.database, here.session, here.now())
      const figures = async () => {
        const { depth, pending, oldest_queued_at } = await here.stats()
        return [depth, pending, oldest_queued_at === null ? null : Date.parse(oldest_queued_at)]
      }
      const announced = async () => (await here.settle()).queued
      await claimedItem(here.claim(20_000))
      assert.deepEqual(await figures(), [0, 1, null])
      here.pass(19_999)
      assert.deepEqual(await announced(), [])
      here.pass(1)
      assert.deepEqual(await figures(), [1, 0, here.now()])
      assert.deepEqual(await announced(), [environment])
      assert.deepEqual(await announced(), [], 'once')
      const item = await claimedItem(here.claim())
      const shortMs = 10_000
      const { last_heartbeat } = await here.beat(item, noAttempts, shortMs)
      assert.deepEqual(await figures(), [0, 0, null])
      here.pass(shortMs)
      assert.deepEqual(await figures(), [1, 0, here.now()])
      assert.deepEqual(await announced(), [environment])
      assert.equal((await here.beat(item, last_heartbeat)).lease_extended, true, 'late, and alone')
      assert.deepEqual([await figures(), await announced()], [[0, 0, null], []])
      here.pass(claimLeaseMs)
      assert.deepEqual(await announced(), [environment])
    })

    // verifies: work/withdrawn
    it('is withdrawn when it lapses and its session owes nothing', async () => {
      await using here = await setup()
      await here.put()
      const item = await claimedItem(here.claim())
      await here.beat(item, noAttempts)
      await here.rests()
      here.pass(claimLeaseMs)
      assert.deepEqual((await here.settle()).queued, [])
      assert.equal(await here.state(item), 'stopped')
      assert.equal(await here.claim(), undefined)
    })
  })
}
