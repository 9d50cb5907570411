import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { createShare } from '../../ground/core/fairness/share.ts'
import type { TextGrader } from '@steward/protocol/graders.ts'
import type { TrialEvidence } from './grade-trial.ts'
import { gradeTrial, UngradableError } from './grade-trial.ts'
import { createMatcher } from './text-matchers.ts'

const text = (op: TextGrader['op'], value: string): TextGrader => ({
  name: 'g',
  type: 'text',
  op,
  value,
  ignore_case: false,
})
const trial = (answer: string) => ({
  answer,
  expected: undefined,
  counts: new Map<string, number>(),
})

const slots = createShare({ total: 3, percent: 80 })
const grade = (grader: TextGrader, evidence: TrialEvidence, tenant = 'wrkspc_a') =>
  gradeTrial(grader, evidence, createMatcher(slots, tenant))

describe('graders', () => {
  it('do not wait for an expression that takes exponential time', async () => {
    const began = performance.now()
    await assert.rejects(
      grade(text('regex', '^(a+)+$'), trial(`${'a'.repeat(40)}b`)),
      (error) => error instanceof UngradableError && /longer than 100 ms/.test(error.message),
    )
    assert.ok(performance.now() - began < 5_000)
  })

  it('wait for no expressions of another tenant, however many these are', async () => {
    const order: string[] = []
    const slow = Array.from({ length: 8 }, async () => {
      const graded = grade(text('regex', '^(a+)+$'), trial(`${'a'.repeat(40)}b`), 'wrkspc_greedy')
      await assert.rejects(graded, UngradableError)
      order.push('greedy')
    })
    await grade(text('regex', 'b$'), trial('b'), 'wrkspc_modest')
    order.push('modest')
    await Promise.all(slow)
    assert.ok(order.indexOf('modest') <= 2, order.join())
  })

  it('take no time for a text that the answer nearly includes everywhere', async () => {
    const half = 'a'.repeat(30_000)
    const began = processorMs()
    const includes = text('includes', `${half}b${half}`)
    const { passed } = await grade(includes, trial('a'.repeat(1_000_000)))
    assert.equal(passed, false)
    assert.ok(processorMs() - began < 2_000)
  })

  it('do not block the event loop while an expression takes exponential time to compile', async () => {
    let turns = 0
    const others = setInterval(() => turns++, 10)
    const bomb = 'a?'.repeat(500) + 'a'.repeat(500)
    await assert.rejects(grade(text('regex', bomb), trial('a'.repeat(500))), UngradableError)
    clearInterval(others)
    assert.ok(turns > 10, `${turns} turns`)
    const { passed } = await grade(text('regex', '^b'), trial('b'))
    assert.equal(passed, true)
  })

  it('match a text of several lines, whatever separates them', async () => {
    for (const separator of ['\n', '\r\n', '\u0085', '\u2028', '\u2029']) {
      const graded = await grade(text('regex', 'done$'), trial(`one${separator}done`))
      assert.equal(graded.passed, true, JSON.stringify(separator))
      const wrong = text('regex', `(${separator}`)
      await assert.rejects(grade(wrong, trial('a')), /Unterminated group/)
    }
  })

  it('say what is wrong with an expression, and cannot judge without a value', async () => {
    await assert.rejects(grade(text('regex', '('), trial('a')), /grader g: .*Unterminated group/)
    const { value: _value, ...without } = text('equals', '')
    await assert.rejects(grade(without, trial('a')), UngradableError)
  })

  it('fail an answer of JSON that is nested too deeply to be written', async () => {
    const answer = '['.repeat(100_000) + ']'.repeat(100_000)
    const { passed } = await grade({ ...text('json_path', '1'), path: '/0' }, trial(answer))
    assert.equal(passed, false)
  })

  it('compare what a sample expects as JSON where it is no text', async () => {
    const { value: _value, ...without } = text('equals', '')
    const { passed } = await grade(without, { ...trial(' {"a":1}\n'), expected: { a: 1 } })
    assert.equal(passed, true)
  })
})
