import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { exactChance, seededRandom } from './chance.ts'
import type { ComparedRun } from './compare-runs.ts'
import { compareRuns } from './compare-runs.ts'

/** Trials of an agent that passes each sample as often as `rates` says. */
function simulate(rates: readonly number[], trials: number, random: () => number): ComparedRun {
  return {
    id: 'evrun_simulated',
    samples: rates.map((rate, index) => ({
      id: `sample_${index + 1}`,
      digest: String(index),
      trials: Array.from({ length: trials }, () => {
        const passed = random() < rate
        const score = { grader: 'g', score: Number(passed), passed, explanation: '' }
        return { passed, scores: [score] }
      }),
    })),
  }
}

const repetitions = 100
const mostAlarms = 5

describe('a comparison', () => {
  for (const [samples, trials] of [
    [20, 5],
    [5, 10],
    [40, 1],
    [3, 3],
  ] as const)
    it(`names no change of an agent that has not changed: ${samples} samples, ${trials} trials`, () => {
      const random = seededRandom(samples * 1000 + trials)
      const rates = Array.from({ length: samples }, () => random())
      let alarms = 0
      for (let round = 0; round < repetitions; round++) {
        const { verdict } = compareRuns(
          simulate(rates, trials, random),
          simulate(rates, trials, random),
        )
        if (verdict !== 'same' && verdict !== 'noise') alarms++
      }
      assert.ok(alarms <= mostAlarms, `${alarms} false alarms`)
    })

  it('names a planted regression, and nothing beside it', () => {
    const random = seededRandom(7)
    let named = 0
    for (let round = 0; round < 20; round++) {
      const rates = Array.from({ length: 12 }, () => 0.95)
      const worse = rates.map((rate, index) => (index === 4 ? 0.05 : rate))
      const { samples, summary } = compareRuns(
        simulate(rates, 12, random),
        simulate(worse, 12, random),
      )
      const changed = samples.filter(({ change }) => change === 'worse' || change === 'better')
      if (changed.length !== 1 || changed[0]?.sample_id !== 'sample_5') continue
      named++
      assert.match(summary, /^The agent got worse\.\nsample_5: \d+ of 12 trials passed before/)
    }
    assert.ok(named >= 18, `${named} of 20`)
  })

  // verifies: evals/compare/suspects
  it('names samples that fell from six of six to none among fifty, and how many trials would decide', () => {
    const run = (fallen: number): ComparedRun => ({
      id: 'evrun_fallen',
      samples: Array.from({ length: 50 }, (_, n) => ({
        id: `sample_${n}`,
        digest: '',
        trials: Array.from({ length: 6 }, () => ({ passed: n >= fallen, scores: [] })),
      })),
    })
    const { verdict, summary, samples } = compareRuns(run(0), run(5))
    assert.equal(verdict, 'worse')
    assert.equal(samples.filter(({ change }) => change === 'noise').length, 5)
    for (let n = 0; n < 5; n++)
      assert.match(
        summary,
        new RegExp(
          `sample_${n}: 6 of 6 .* 0 of 6 now, .*among 50 samples, and alone .*; 8 trials .* would decide`,
        ),
      )
    assert.doesNotMatch(summary, /by no more than chance/)
  })

  it('names an improvement of all samples by its interval, where one sample alone says nothing', () => {
    const random = seededRandom(3)
    const rates = Array.from({ length: 60 }, () => 0.4)
    const better = rates.map(() => 0.75)
    const found = compareRuns(simulate(rates, 3, random), simulate(better, 3, random))
    const [whole] = found.graders
    assert.deepEqual([found.verdict, whole?.grader, whole?.change], ['better', 'all', 'better'])
    assert.ok(whole && whole.low > 0.1 && whole.high < 0.6)
    assert.match(whole.text, /^all trials: up by [\d.]+ points, with 98 % confidence between/)
  })

  it('joins by the id of the sample, and marks samples that are not the same', () => {
    const one = (id: string, digest: string, passes: boolean[]) => ({
      id,
      digest,
      trials: passes.map((passed) => ({ passed, scores: [] })),
    })
    const baseline = {
      id: 'a',
      samples: [one('x', '1', [true]), one('y', '1', [true]), one('w', '1', [])],
    }
    const run = {
      id: 'b',
      samples: [one('y', '2', [true]), one('z', '1', [true]), one('w', '1', [true])],
    }
    const { samples, verdict } = compareRuns(baseline, run)
    assert.deepEqual(
      samples.map(({ sample_id, change }) => [sample_id, change]),
      [
        ['y', 'changed'],
        ['z', 'added'],
        ['w', 'unscored'],
        ['x', 'removed'],
      ],
    )
    assert.equal(verdict, 'same')
  })

  it('knows the exact chance of two counts', () => {
    const chance = exactChance({ passed: 8, trials: 10 }, { passed: 1, trials: 6 })
    // R: fisher.test(matrix(c(8, 2, 1, 5), 2))$p.value is 0.03497, and these counts alone have 0.0236
    assert.ok(Math.abs(chance - (0.034965 - 0.023601 / 2)) < 1e-5, String(chance))
  })
})
