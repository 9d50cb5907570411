import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { claimLeaseMs, noAttempts, claimState } from './item.ts'
import {
  anyWorker,
  appendWorkerCall,
  readErrors,
  firstWorker,
  idleMs,
  isRefusedAs,
  secondWorker,
  claimedItem,
  workRef,
} from './queue-fixture.ts'

for (const [kind, open] of Object.entries(everyShape)) {
  const setup = () => workRef(open)

  describe(`work on ${kind}`, () => {
    // verifies: work/state/reserved, work/state/reservation-expired
    it('is claimed once, and again when nobody acknowledged it in time', async () => {
      await using here = await setup()
      assert.equal(await here.put(), true)
      assert.equal(await here.put(), false, 'a session has one item that goes on')
      const first = await claimedItem(here.claim())
      assert.equal(await here.claim(), undefined)
      here.pass(4_999)
      assert.equal(await here.claim(), undefined)
      assert.equal(await here.claim(10_000), undefined)
      here.pass(1)
      const second = await claimedItem(here.claim())
      assert.deepEqual([second.id, second.generation], [first.id, first.generation + 1])
    })

    // verifies: work/state/acknowledged, work/state/first-heartbeat, work/heartbeat
    it('is acknowledged by a request or by the first heartbeat, and held by heartbeats that follow each other', async () => {
      await using here = await setup()
      await here.put()
      const item = await claimedItem(here.claim())
      assert.equal((await here.ack(item)).state, 'starting')
      assert.equal((await here.ack(item)).state, 'starting', 'twice is once')
      const first = await here.beat(item, noAttempts)
      assert.deepEqual([first.state, first.lease_extended, first.ttl_seconds], ['active', true, 90])
      const second = await here.beat(item, first.last_heartbeat)
      assert.notEqual(second.last_heartbeat, first.last_heartbeat)
      const again = await here.beat(item, first.last_heartbeat)
      assert.equal(again.lease_extended, true, 'a beat whose answer was lost comes again')
      await assert.rejects(here.beat(item, noAttempts), isRefusedAs('precondition_failed'))
      await assert.rejects(here.beat(item, 'else'), isRefusedAs('precondition_failed'))
      await assert.rejects(here.ack(item), isRefusedAs('conflict'))
    })

    // verifies: work/state/lease-expired, work/state/stale-heartbeat, errors/case/stale-heartbeat
    it('goes to another when its lease has run out, and the one before is refused', async () => {
      await using here = await setup()
      await here.put()
      const first = await claimedItem(here.claim())
      const { last_heartbeat } = await here.beat(first, noAttempts)
      here.pass(claimLeaseMs - 1)
      assert.equal(await here.claim(), undefined)
      here.pass(1)
      const second = await claimedItem(here.claim())
      await assert.rejects(here.beat(first, last_heartbeat), isRefusedAs('precondition_failed'))
      await assert.rejects(here.stop(first), isRefusedAs('precondition_failed'))
      assert.equal((await here.beat(second, noAttempts)).lease_extended, true)
      assert.equal(claimState({ ...second, state: 'active' }, first.generation, 0), 'stale')
    })

    // verifies: work/stop
    it('ends at once when it is stopped by force, else when its worker learns of it', async () => {
      await using here = await setup()
      await here.put()
      const item = await claimedItem(here.claim())
      const { last_heartbeat } = await here.beat(item, noAttempts)
      assert.equal((await here.stop(item, false)).state, 'stopping')
      const told = await here.beat(item, last_heartbeat)
      assert.deepEqual([told.state, told.lease_extended], ['stopping', false])
      assert.equal((await here.stop(item)).state, 'stopped')
      assert.equal((await here.stop(item)).state, 'stopped', 'twice is once')
      assert.equal(await here.put(), true)
    })

    it('is enqueued again when a worker ends with a call of its session unanswered, so often and no more', async () => {
      await using here = await setup()
      await here.put()
      await appendWorkerCall(here.database, here.session, here.now())
      for (let attempt = 0; attempt <= 5; attempt++) {
        const item = await claimedItem(here.claim())
        await here.beat(item, noAttempts)
        await here.stop(item)
        here.pass(60_000)
      }
      assert.equal(await here.claim(), undefined)
      assert.match(await readErrors(here.database), /6 times in a row.*"exhausted"/)
    })

    it('ends with the typed error when worker after worker takes it up and dies', async () => {
      await using here = await setup()
      await here.put()
      await appendWorkerCall(here.database, here.session, here.now())
      for (let attempt = 0; attempt <= 5; attempt++) {
        const item = await claimedItem(here.claim())
        if (attempt % 2 === 0) await here.beat(item, noAttempts)
        else await here.ack(item)
        here.pass(300_000)
      }
      assert.equal(await here.claim(), undefined)
      assert.match(await readErrors(here.database), /6 times in a row.*"exhausted"/)
      here.pass(300_000)
      assert.equal(await here.claim(), undefined)
      assert.equal(await here.put(), true, 'a message begins anew')
      assert.equal((await claimedItem(here.claim())).attempts, 0)
    })

    // verifies: work/attempts
    it('is claimed without an end by workers that acknowledge nothing: nobody has tried', async () => {
      await using here = await setup()
      await here.put()
      await appendWorkerCall(here.database, here.session, here.now())
      for (let round = 0; round < 12; round++) {
        assert.equal((await claimedItem(here.claim())).attempts, 0)
        here.pass(300_000)
      }
      assert.equal(await readErrors(here.database), '')
      await here.stop(await claimedItem(here.claim()))
      here.pass(1_999)
      assert.equal(await here.claim(), undefined, 'one that was stopped so pauses')
      here.pass(1)
      assert.equal((await claimedItem(here.claim())).attempts, 0)
    })

    // verifies: work/attempts
    it('is not given up for failures of its workers within five minutes', async () => {
      await using here = await setup()
      await here.put()
      await appendWorkerCall(here.database, here.session, here.now())
      const attempt = async () => {
        const item = await claimedItem(here.claim())
        await here.beat(item, noAttempts)
        await here.stop(item)
        here.pass(33_000)
      }
      for (let n = 0; n < 9; n++) await attempt()
      assert.equal(await readErrors(here.database), '')
      here.pass(3_000)
      await attempt()
      assert.match(await readErrors(here.database), /10 times in a row.*"exhausted"/)
      assert.equal(await here.claim(), undefined)
    })

    // verifies: work/acknowledge-once
    it('is acknowledged by the worker that claimed it, and by no other', async () => {
      await using here = await setup()
      await here.put()
      const item = await claimedItem(here.claim(5_000, firstWorker))
      await assert.rejects(here.ack(item, secondWorker), isRefusedAs('conflict'))
      await assert.rejects(here.ack(item, { key: 'other', id: undefined }), isRefusedAs('conflict'))
      assert.equal((await here.ack(item, firstWorker)).state, 'starting')
      assert.equal((await here.ack(item, firstWorker)).state, 'starting', 'twice is once')
      assert.equal(
        (await here.ack(item, anyWorker)).state,
        'starting',
        'by its key, without a name',
      )
      await assert.rejects(here.ack(item, secondWorker), isRefusedAs('conflict'))
    })

    for (const state of ['reserved', 'acknowledged'])
      it(`is acknowledged by one of many that name themselves at once, while it is ${state} without a name`, async () => {
        await using here = await setup()
        for (let round = 0; round < 10; round++) {
          await here.more()
          const item = await claimedItem(here.claim())
          if (state === 'acknowledged') await here.ack(item)
          const workers = Array.from({ length: 8 }, (_, n) => ({ key: 'key', id: `worker_${n}` }))
          const acks = await Promise.allSettled(workers.map((worker) => here.ack(item, worker)))
          const refusals = acks.filter((each) => each.status === 'rejected')
          assert.ok(refusals.every(({ reason }) => isRefusedAs('conflict')(reason)))
          assert.equal(refusals.length, workers.length - 1)
        }
      })

    it('is let go without an end as long as its workers get something done', async () => {
      await using here = await setup()
      await here.put()
      await appendWorkerCall(here.database, here.session, here.now())
      for (let attempt = 0; attempt <= 12; attempt++) {
        const item = await claimedItem(here.claim())
        await here.beat(item, noAttempts)
        if (attempt % 4 === 3) await here.writes(item)
        here.pass(300_000)
      }
      assert.equal(await readErrors(here.database), '')
    })

    it('reports to its session when its worker is lost and no other takes it', async () => {
      await using here = await setup()
      await here.put()
      const told = async () => (await here.settle()).told.length
      await here.beat(await claimedItem(here.claim()), noAttempts)
      here.pass(claimLeaseMs + 29_999)
      assert.equal(await told(), 0)
      here.pass(1)
      assert.deepEqual([await told(), await told()], [1, 0])
      await claimedItem(here.claim())
      here.pass(29_999)
      assert.equal(await told(), 0)
      here.pass(1)
      assert.equal(await told(), 1, 'handed out, and not taken up')
    })

    it('is settled without its worker: an item that died while stopping, an item that no worker claims', async () => {
      await using here = await setup()
      await here.put()
      here.pass(30_000)
      assert.deepEqual((await here.settle()).told, [here.session])
      assert.deepEqual((await here.settle()).told, [], 'once')
      const item = await claimedItem(here.claim())
      await here.beat(item, noAttempts)
      await here.stop(item, false)
      await here.settle()
      assert.equal(await here.state(item), 'stopping')
      here.pass(claimLeaseMs)
      await here.settle()
      assert.equal(await here.state(item), 'stopped')
    })

    it('is not lost to a clock that is set back, whatever its state', async () => {
      for (const stage of ['waiting', 'reserved', 'held', 'stopping'] as const) {
        await using here = await setup()
        await here.put()
        const item = stage === 'waiting' ? undefined : await claimedItem(here.claim())
        if (item && stage !== 'reserved') await here.beat(item, noAttempts)
        if (item && stage === 'stopping') await here.stop(item, false)
        here.pass(-3_600_000)
        assert.equal(await here.claim(), undefined, stage)
        await here.settle()
        here.pass(claimLeaseMs)
        await here.settle()
        if (item && stage === 'stopping') assert.equal(await here.state(item), 'stopped')
        else await claimedItem(here.claim())
      }
    })

    it('ends with a heartbeat when its session has rested', async () => {
      await using here = await setup()
      await here.put()
      const item = await claimedItem(here.claim())
      const first = await here.beat(item, noAttempts)
      here.pass(idleMs)
      const told = await here.beat(item, first.last_heartbeat)
      assert.deepEqual([told.state, told.lease_extended], ['stopping', false])
    })
  })
}
