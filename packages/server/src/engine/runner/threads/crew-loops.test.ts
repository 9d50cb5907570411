import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { primaryThreadId } from '../../../ground/core/text/ids.ts'
import type { Step } from '../steps.ts'
import type { Crew, LoopEnd } from './crew.ts'
import { runCrew } from './crew.ts'

const session = 'sesn_01'
const one = 'sthr_one'
const two = 'sthr_two'

type ThreadRun = { thread: string | undefined; isFirst: boolean }

/** Runs a crew whose loops end as `ends` says, and keeps each run. */
async function crewOf(
  due: readonly (string | undefined)[],
  ends: (crew: Crew, run: ThreadRun, count: number) => Promise<LoopEnd> | LoopEnd,
): Promise<{ runs: ThreadRun[]; end: Promise<LoopEnd> }> {
  const runs: ThreadRun[] = []
  const end = runCrew(session, due, async (crew, thread, isFirst) => {
    const run = { thread, isFirst }
    return ends(crew, run, runs.push(run))
  })
  await end.catch(() => undefined)
  return { runs, end }
}

describe('the threads of one session that a process runs', () => {
  it('run side by side, and end when the last one has come to rest', async () => {
    const both = Promise.withResolvers<void>()
    const alone: boolean[] = []
    const { runs, end } = await crewOf([one, two], async (crew, _run, count): Promise<LoopEnd> => {
      alone.push(crew.isAlone())
      if (count === 2) both.resolve()
      await both.promise
      return 'rested'
    })
    assert.equal(await end, 'rested')
    assert.deepEqual(runs, [
      { thread: one, isFirst: true },
      { thread: two, isFirst: true },
    ])
    assert.deepEqual(alone, [true, false])
  })

  it('begin when another one starts them, and are looked at again when they run already', async () => {
    const { runs } = await crewOf([undefined], (crew, { thread }, count) => {
      if (count === 1) crew.start(one)
      if (thread === one) crew.start(undefined)
      return 'rested'
    })
    assert.deepEqual(runs, [
      { thread: undefined, isFirst: true },
      { thread: one, isFirst: false },
      { thread: undefined, isFirst: false },
    ])
  })

  it('begin with the step that was recorded while they were parked, and not before', async () => {
    const steps: [string | undefined, Step | undefined][] = []
    const step: Step = { kind: 'rest' }
    await runCrew(session, [undefined], async (crew, thread, _isFirst, given) => {
      steps.push([thread, given])
      if (thread !== undefined) return 'rested'
      assert.equal(crew.park(primaryThreadId(session)), undefined, 'it runs')
      const begin = crew.park(one)
      assert.equal(crew.park(one), undefined, 'it is parked already')
      crew.start(one)
      await new Promise(setImmediate)
      assert.equal(steps.length, 1)
      begin?.(step)
      return 'rested'
    })
    assert.deepEqual(steps, [
      [undefined, undefined],
      [one, step],
      [one, undefined],
    ])
  })

  it('are one loop for the primary thread, by its id too', async () => {
    const { runs } = await crewOf([undefined], (crew, _run, count) => {
      if (count === 1) crew.start(primaryThreadId(session))
      return 'rested'
    })
    assert.deepEqual(
      runs.map(({ thread }) => thread),
      [undefined, undefined],
    )
  })

  for (const end of ['lost', 'left'] as const)
    it(`begin nothing again once a loop was ${end}, and say so`, async () => {
      const { runs, end: said } = await crewOf([one], (crew) => {
        crew.start(one)
        return end
      })
      assert.equal(await said, end)
      assert.equal(runs.length, 1)
    })

  it('run to their rest where one fails, and throw its error then', async () => {
    const order: string[] = []
    const failed = Promise.withResolvers<void>()
    const { end } = await crewOf([one, two], async (_crew, { thread }): Promise<LoopEnd> => {
      if (thread === one) {
        setImmediate(failed.resolve)
        throw new Error('one has failed')
      }
      await failed.promise
      order.push('two has rested')
      return 'rested'
    })
    await assert.rejects(end, /one has failed/)
    assert.deepEqual(order, ['two has rested'])
  })

  it('notify the waiting of each rest, and of a notice', async () => {
    const seen: string[] = []
    await crewOf([one, two], async (crew, { thread }): Promise<LoopEnd> => {
      if (thread === two) return 'rested'
      await crew.changed()
      seen.push('two rests')
      const noticed = crew.changed().then(() => seen.push('a notice'))
      crew.notice()
      await noticed
      return 'rested'
    })
    assert.deepEqual(seen, ['two rests', 'a notice'])
  })
})
