import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'
import { until } from '@steward/sandbox/fixture.ts'
import { openPoolBench, type PoolBench, run } from './sandbox-pool-fixture.ts'
import type { SandboxPool } from './sandbox-pool.ts'

describe('the start of a sandbox', () => {
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

  it('does not start when something for it fails, and is tried again', async () => {
    const session = await bench.newSession()
    const turn = sandboxPool.use(session)
    const failure = { type: 'unknown_error', message: 'no room' } as const
    bench.at.kind = () => Promise.reject(new TurnFailed(failure))
    await assert.rejects(turn.sandbox(), { failure })
    bench.at.kind = async () => ({ started: () => Promise.reject(new TurnFailed(failure)) })
    await assert.rejects(turn.sandbox(), { failure })
    bench.at.kind = async () => ({})
    assert.equal(await run(await turn.sandbox(), 'echo now'), 'now\n')
    turn.giveBack()
  })

  // verifies: sandbox/another-process
  it('is started once more when nothing has run in it, as long as its session is held here', async () => {
    const absent = Object.assign(new Error('ENOENT: taken away by another process'), {
      code: 'ENOENT',
    })
    let starts = 0
    const failing = (times: number) => async () => {
      if (++starts <= times) throw absent
      return {}
    }
    bench.at.kind = failing(1)
    const turn = sandboxPool.use(await bench.newSession())
    assert.equal(await run(await turn.sandbox(), 'echo now'), 'now\n')
    turn.giveBack()
    for (const [held, times, expected] of [
      [true, 2, 2],
      [false, 1, 1],
    ] as const) {
      starts = 0
      Object.assign(bench.at, { isOurs: held, kind: failing(times) })
      const other = sandboxPool.use(await bench.newSession())
      await assert.rejects(other.sandbox(), absent)
      assert.equal(starts, expected)
      other.giveBack()
    }
  })

  it('shares no path with the sandbox of the process before, which is still cleared away', async () => {
    const leave = Promise.withResolvers<void>()
    const starts: string[] = []
    bench.at.kind = async ({ start }) => {
      starts.push(start)
      const isFirst = starts.length === 1
      return { ended: async () => (isFirst ? leave.promise : undefined) }
    }
    const session = await bench.newSession()
    const before = sandboxPool.use(session)
    const old = await before.sandbox()
    before.giveBack()
    const elsewhere = bench.open('off')
    const turn = elsewhere.use(session)
    const sandbox = await turn.sandbox()
    await old.ended
    leave.resolve()
    await until('the first start is cleared away', () => !existsSync(starts[0] ?? ''))
    assert.equal(await run(sandbox, 'echo here'), 'here\n')
    assert.ok(existsSync(join(starts[1] ?? '', 'egress.sock')))
    turn.giveBack()
    await elsewhere.close()
    assert.ok(!existsSync(starts[1] ?? ''))
  })

  it('starts for the turn that claimed the session while it was starting for the turn before', async () => {
    const session = await bench.newSession()
    const [fenced, claimed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    bench.at.kind = async ({ egress }) => {
      await egress.placeholders().catch(() => fenced.resolve())
      await claimed.promise
      return {}
    }
    const turn = sandboxPool.use(session)
    await bench.database.write((tx) =>
      tx
        .updateTable('session_heads')
        .set({ generation: 1 })
        .where('session_id', '=', session.session)
        .execute(),
    )
    const starting = turn.sandbox()
    await fenced.promise
    const next = sandboxPool.use({ ...session, generation: 1 })
    claimed.resolve()
    assert.equal(await next.sandbox(), await starting)
    assert.deepEqual(next.takeNotices(), [])
    turn.giveBack()
    next.giveBack()
  })
})
