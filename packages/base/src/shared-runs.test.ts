import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runAgain, runOnce, runOnceEach, runTogether } from './shared-runs.ts'

/** A function whose runs end by hand. */
function countedRuns() {
  const runs: PromiseWithResolvers<number>[] = []
  return {
    runs,
    run: () => {
      const begun = Promise.withResolvers<number>()
      runs.push(begun)
      return begun.promise
    },
  }
}

describe('a run that is shared', () => {
  it('once, gives its result to every call, during the run and after it', async () => {
    const { run, runs } = countedRuns()
    const shared = runOnce(run)
    const both = [shared(), shared()]
    runs[0]?.resolve(1)
    assert.deepEqual(await Promise.all([...both, shared()]), [1, 1, 1])
    assert.equal(runs.length, 1)
  })

  it('once, fails for those who waited, and runs again for the next', async () => {
    const { run, runs } = countedRuns()
    const shared = runOnce(run)
    const both = [shared(), shared()]
    runs[0]?.reject(new Error('EMFILE'))
    await Promise.all(both.map((each) => assert.rejects(each, /EMFILE/)))
    const next = shared()
    runs[1]?.resolve(2)
    assert.equal(await next, 2)
    assert.equal(await shared(), 2)
    assert.equal(runs.length, 2)
  })

  it('once, forgets a failure that is thrown before anything is awaited', async () => {
    let calls = 0
    const shared = runOnce(() => {
      if (++calls === 1) throw new Error('at once')
      return Promise.resolve(calls)
    })
    await assert.rejects(shared(), /at once/)
    assert.equal(await shared(), 2)
  })

  it('once, runs again when its result is forgotten, and an old failure forgets no new run', async () => {
    const { run, runs } = countedRuns()
    const shared = runOnce(run)
    const old = shared()
    shared.forget()
    assert.equal(shared.current(), undefined)
    const next = shared()
    runs[0]?.reject(new Error('late'))
    await assert.rejects(old, /late/)
    runs[1]?.resolve(2)
    assert.deepEqual(await Promise.all([next, shared()]), [2, 2])
    assert.equal(runs.length, 2)
  })

  it('once for each key, keeps results and forgets failures by key', async () => {
    const asked: string[] = []
    const shared = runOnceEach((key: string) => {
      asked.push(key)
      return key === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve(key)
    })
    assert.equal(await shared('good'), 'good')
    assert.equal(await shared('good'), 'good')
    await assert.rejects(shared('bad'), /no/)
    await assert.rejects(shared('bad'), /no/)
    assert.deepEqual(asked, ['good', 'bad', 'bad'])
  })

  it('while it goes, is over before those who waited continue', async () => {
    const { run, runs } = countedRuns()
    const shared = runTogether(run)
    const both = [shared(), shared()]
    runs[0]?.resolve(1)
    assert.deepEqual(await Promise.all(both), [1, 1])
    assert.equal(shared.current(), undefined)
    const next = shared()
    runs[1]?.reject(new Error('no'))
    await assert.rejects(next, /no/)
    assert.equal(shared.current(), undefined)
  })

  it('again, runs once more for all calls that came meanwhile, and never beside itself', async () => {
    let begun = 0
    let going = 0
    const run = runAgain(async () => {
      begun++
      assert.equal(++going, 1)
      await new Promise(setImmediate)
      going--
    })
    const first = run()
    await Promise.resolve()
    await Promise.all([first, run(), run()])
    assert.equal(begun, 2)
    assert.equal(run.current(), undefined)
    await run()
    assert.equal(begun, 3)
  })

  it('again, runs at the next call after a failure', async () => {
    let begun = 0
    const run = runAgain(() =>
      ++begun === 1 ? Promise.reject(new Error('no')) : Promise.resolve(),
    )
    await assert.rejects(run(), /no/)
    await run()
    assert.equal(begun, 2)
  })
})
