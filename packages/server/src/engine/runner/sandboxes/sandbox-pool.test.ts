import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { noServers } from '@steward/harness/tools/mcp/servers.ts'
import { createShare } from '../../../ground/core/fairness/share.ts'
import { tenant } from '../../egress/callers/egress-fixture.ts'
import { idleMs, openPoolBench, type PoolBench, run } from './sandbox-pool-fixture.ts'
import type { SandboxPool } from './sandbox-pool.ts'

describe('the sandbox of a session', () => {
  let bench: PoolBench
  let sandboxPool: SandboxPool
  before(async () => {
    bench = await openPoolBench()
  })
  after(() => bench[Symbol.asyncDispose]())
  beforeEach(() => {
    bench.fresh()
    sandboxPool = bench.open('off')
  })
  afterEach(() => sandboxPool.close())

  it('is the same one for as long as it is used', async () => {
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    assert.equal(await turn.sandbox(), await turn.sandbox())
    turn.giveBack()
    const next = sandboxPool.use(session)
    await run(await next.sandbox(), 'cd /tmp')
    assert.equal(await run(await next.sandbox(), 'pwd'), '/tmp\n')
    next.giveBack()
  })

  // verifies: sandbox/lazy
  it('has everything that was mounted, and calls the kinds at their times', async () => {
    const order: string[] = []
    bench.at.kind = async ({ session, folder: own, isKnown, keep }) => {
      const source = join(own, 'things')
      await mkdir(source, { mode: 0o755 })
      await writeFile(join(source, 'thing'), 'laid out')
      await keep([{ id: 'sevt_1', type: 'session.warning', reason: 'r', message: 'm' }])
      order.push(`laid ${isKnown}`)
      const note = (what: string) => async () => void order.push(what)
      return {
        mounts: [{ source, path: '/home/user/things', access: 'read' }],
        env: { THINGS: session },
        started: note('started'),
        before: note('before'),
        async changed(sandbox) {
          return [`changed, ${await run(sandbox, 'cat /home/user/things/thing')}`]
        },
        rested: note('rested'),
        ended: note('ended'),
      }
    }
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    assert.deepEqual(await turn.changed(), [])
    await turn.rested()
    const sandbox = await turn.sandbox()
    assert.equal(await run(sandbox, 'echo $THINGS'), `${session.session}\n`)
    assert.deepEqual(await turn.changed(), ['changed, laid out'])
    await turn.rested()
    turn.giveBack()
    await sandboxPool.stop(session.session)
    await sandbox.ended
    assert.deepEqual(order, ['laid false', 'started', 'before', 'rested', 'ended'])
    assert.deepEqual(bench.at.said, ['session.warning'])
  })

  it('has its files where no other account of the host reads them', async () => {
    const session = await bench.newSession()
    const own = join(bench.folder, session.session)
    await mkdir(own, { mode: 0o755 })
    await run(await sandboxPool.use(session).sandbox(), 'true')
    assert.equal((await stat(own)).mode & 0o777, 0o700)
  })

  it('is stopped for another sandbox of its tenant when it rests, and keeps its slot while it is used', async () => {
    // There is room for one sandbox of each tenant.
    bench.at.share = createShare({ total: 2, percent: 50 })
    await sandboxPool.close()
    sandboxPool = bench.open('off')
    const [one, other, third] = [
      await bench.newSession(),
      await bench.newSession(),
      await bench.newSession(),
    ]
    const first = sandboxPool.use(one)
    const sandbox = await first.sandbox()
    const second = sandboxPool.use(other)
    const waiting = second.sandbox()
    const given = sandboxPool.use(third)
    const refused = assert.rejects(given.sandbox(), /its turn is over/)
    given.giveBack()
    await refused
    assert.equal(await run(sandbox, 'echo used'), 'used\n')
    assert.ok(bench.at.share.take('another tenant'))
    first.giveBack()
    const next = await waiting
    await sandbox.ended
    assert.equal(await run(next, 'echo mine'), 'mine\n')
    second.giveBack()
    const again = sandboxPool.use(third)
    assert.equal(await run(await again.sandbox(), 'echo again'), 'again\n')
    await next.ended
    again.giveBack()
    await sandboxPool.close()
    assert.equal(bench.at.share.held(tenant), 0)
  })

  it(
    'is stopped for another sandbox even if its turn ended before it started',
    { timeout: 10_000 },
    async () => {
      bench.at.share = createShare({ total: 2, percent: 50 })
      await sandboxPool.close()
      sandboxPool = bench.open('off')
      const laid = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      bench.at.kind = async () => {
        begun.resolve()
        await laid.promise
        return {}
      }
      const first = sandboxPool.use(await bench.newSession())
      const late = first.sandbox()
      await begun.promise
      const second = sandboxPool.use(await bench.newSession())
      const waiting = second.sandbox()
      first.giveBack()
      laid.resolve()
      await (
        await late
      ).ended
      assert.equal(await run(await waiting, 'echo mine'), 'mine\n')
      second.giveBack()
    },
  )

  it('is stopped when it was idle, and the working folder is there for the next sandbox', async () => {
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    const first = await turn.sandbox()
    await run(first, 'echo kept > /workspace/note')
    bench.at.now += idleMs * 2
    await sandboxPool.stopIdle()
    assert.equal(await run(first, 'echo used'), 'used\n', 'a turn that uses it keeps it')
    turn.giveBack()
    await sandboxPool.stopIdle()
    assert.equal(await run(first, 'echo fresh'), 'fresh\n', 'it was used a moment ago')
    bench.at.now += idleMs
    await sandboxPool.stopIdle()
    assert.equal(await first.ended, 'closed')
    const again = sandboxPool.use(session)
    const second = await again.sandbox()
    assert.notEqual(second, first)
    assert.equal(await run(second, 'cat /workspace/note'), 'kept\n')
    // verifies: workspace/replaced-told
    const [notice] = again.takeNotices()
    assert.equal(notice?.reason, 'sandbox_replaced')
    assert.match(notice.message, /started anew/)
    assert.equal(notice.told, true)
    again.giveBack()
  })

  it('starts only when the previous one has ended', async () => {
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    const first = await turn.sandbox()
    turn.giveBack()
    const stopped = sandboxPool.stop(session.session)
    const next = sandboxPool.use(session)
    const second = await next.sandbox()
    await stopped
    assert.equal(await first.ended, 'closed')
    assert.equal(await run(second, 'echo alive'), 'alive\n')
    next.giveBack()
  })

  it('keeps nothing of a deleted session', async () => {
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    const deep = 'name=$(printf %0200d 0); for n in $(seq 30); do mkdir $name; cd $name; done'
    await run(await turn.sandbox(), `echo secret > /workspace/note; ${deep}`)
    turn.giveBack()
    await sandboxPool.remove(session.session)
    assert.ok(!existsSync(join(bench.folder, session.session)))
    const again = sandboxPool.use(session)
    assert.match(await run(await again.sandbox(), 'ls -A /workspace'), /^$/)
    again.giveBack()
  })

  for (const next of ['removed', 'started again'])
    it(`is removed before its session is ${next}, even if it ended by itself`, async () => {
      const order: string[] = []
      const leave = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      bench.at.kind = async ({ folder: own }) => {
        order.push('laid out')
        return {
          async ended() {
            left.resolve()
            await leave.promise
            order.push(existsSync(own) ? 'cleared' : 'too late')
          },
        }
      }
      const session = await bench.newSession()
      const turn = sandboxPool.use(session)
      await (await turn.sandbox()).close('it took too much')
      turn.giveBack()
      await left.promise
      const following = async () => {
        if (next === 'removed') return sandboxPool.remove(session.session)
        const again = sandboxPool.use(session)
        await again.sandbox()
        again.giveBack()
      }
      const done = following()
      setTimeout(leave.resolve, 100)
      await done
      assert.deepEqual(order.slice(0, 2), ['laid out', 'cleared'])
    })

  it('is stored in a checkpoint at the end of a later turn when that has failed', async () => {
    await sandboxPool.close()
    sandboxPool = bench.open('idle')
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    await turn.sandbox()
    await turn.changed()
    await turn.rested()
    await turn.rested()
    assert.deepEqual(bench.at.said, ['session.warning', 'session.warning'])
    turn.giveBack()
  })

  it('is stored again only where a file has changed, or after an hour', async () => {
    await sandboxPool.close()
    let stored = 0
    sandboxPool = bench.open('idle', { save: async () => ++stored > 0 })
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    const sandbox = await turn.sandbox()
    const rest = async () => {
      await turn.changed()
      await turn.rested()
      return stored
    }
    /** Waits until the last change is old enough to differ in time from a later one. */
    const untilKept = async () => {
      for (let last = -1; last !== stored; await rest()) {
        last = stored
        await sleep(120)
      }
      return stored
    }
    const kept = await untilKept()
    assert.equal(await rest(), kept)
    await run(sandbox, 'true')
    assert.equal(await rest(), kept)
    await run(sandbox, 'echo x > file')
    assert.ok((await rest()) > kept)
    const again = await untilKept()
    bench.at.now += 3_600_000
    assert.equal(await rest(), again + 1)
    turn.giveBack()
  })

  // verifies: egress/fence/revoked-first
  it('loses its egress before it is ended', async () => {
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    await turn.sandbox()
    const { egress } = turn
    turn.giveBack()
    const stopped = sandboxPool.stop(session.session)
    await assert.rejects(egress.outboundFetch({ credentials: true })('https://api.example'), /./)
    assert.equal(egress.takeRefusals()[0]?.reason, 'fenced')
    await stopped
    await assert.rejects(turn.sandbox(), /stopped/)
  })

  it('keeps the connections of a session over turns, until its servers are others', async () => {
    const session = await bench.newSession()
    let closed = 0
    const make = () => ({ ...noServers, close: async () => void closed++ })
    const first = sandboxPool.use(session)
    const servers = first.servers('one', make)
    first.giveBack()
    const second = sandboxPool.use(session)
    assert.equal(second.servers('one', make), servers)
    assert.notEqual(second.servers('two', make), servers)
    assert.equal(closed, 1)
    second.giveBack()
    await sandboxPool.stop(session.session)
    assert.equal(closed, 2)
  })
})
