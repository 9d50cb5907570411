import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readCompaction, onlyWhenFull, summaryTokens } from './settings.ts'

const of = (metadata: Record<string, unknown>) => readCompaction({ harness: 'native', metadata })

void describe('settings of compaction', () => {
  // verifies: compaction/strategy/invalid
  // verifies: compaction/always-on
  void it('has a default for each key, takes an unknown strategy for the first, and is never off', () => {
    const usual = {
      strategy: 'isolated-basic',
      triggerFraction: 0.8,
      maxSummaryTokens: null,
      summaryPrompt: null,
    }
    assert.deepEqual(of({}), usual)
    for (const strategy of ['none', 'off', '', false, null, 7])
      assert.deepEqual(of({ compaction_strategy: strategy }), usual)
    for (const fraction of [0, -1, 1.1, '', 'half', null, Number.NaN])
      assert.equal(of({ compaction_trigger_fraction: fraction }).triggerFraction, 0.8)
    for (const tokens of [0, -5, 1.5, '', 'ten', null])
      assert.equal(of({ compaction_max_summary_tokens: tokens }).maxSummaryTokens, null)
    assert.equal(of({ compaction_summary_prompt: ' ' }).summaryPrompt, null)
  })

  void it('takes what is given', () => {
    const given = {
      compaction_strategy: 'summarize',
      compaction_trigger_fraction: 1,
      compaction_max_summary_tokens: 100,
      compaction_summary_prompt: 'sum up',
    }
    assert.deepEqual(of(given), {
      strategy: 'summarize',
      triggerFraction: 1,
      maxSummaryTokens: 100,
      summaryPrompt: 'sum up',
    })
    const metadata = given
    assert.deepEqual(readCompaction({ harness: 'default', metadata }), onlyWhenFull)
  })

  void it('takes numbers that typed clients can only write as text', () => {
    const text = { compaction_trigger_fraction: '0.5', compaction_max_summary_tokens: '10' }
    const { triggerFraction, maxSummaryTokens } = of(text)
    assert.deepEqual([triggerFraction, maxSummaryTokens], [0.5, 10])
  })

  void it('asks for no longer a summary than the model can write', () => {
    const model = { contextWindow: 200_000, maxOutputTokens: 4_096 }
    assert.equal(summaryTokens(of({}), model), 4_096)
    assert.equal(summaryTokens(of({ compaction_max_summary_tokens: 500 }), model), 500)
    assert.equal(summaryTokens(of({}), { contextWindow: 8_000, maxOutputTokens: 4_096 }), 1_000)
  })
})
