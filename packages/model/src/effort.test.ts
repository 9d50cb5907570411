import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clampEffort, refuseSpeed, supportedLevels } from './effort.ts'
import type { Effort } from './model.ts'

void describe('effort', () => {
  void it('is the nearest level the model has', () => {
    const full = { reasoning: true, thinkingLevelMap: { xhigh: 'xhigh', max: 'max' } }
    const only = (...levels: string[]) => ({
      reasoning: true,
      thinkingLevelMap: Object.fromEntries(
        ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((level) => [
          level,
          levels.includes(level) ? level : null,
        ]),
      ),
    })
    const cases: [Parameters<typeof clampEffort>[0], Effort, string | undefined][] = [
      [full, 'max', 'max'],
      [{ reasoning: true }, 'max', 'high'],
      [{ reasoning: true }, 'low', 'low'],
      [{ reasoning: true, thinkingLevelMap: { max: 'max' } }, 'xhigh', 'high'],
      [only('high'), 'low', 'high'],
      [only('low', 'high'), 'medium', 'low'],
      [only('minimal'), 'max', 'minimal'],
      [only(), 'high', undefined],
      [{ reasoning: false }, 'high', undefined],
      [{}, 'high', undefined],
    ]
    for (const [model, asked, got] of cases) assert.equal(clampEffort(model, asked), got)
    assert.deepEqual(supportedLevels(full), ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
  })
})

void describe('speed', () => {
  void it('is fast where a provider can be, and refused by name elsewhere', () => {
    assert.equal(refuseSpeed('anthropic', 'anthropic-messages', 'fast'), undefined)
    assert.equal(refuseSpeed('ant', 'anthropic-messages', 'fast'), undefined)
    assert.equal(refuseSpeed('openai', 'openai-responses', 'fast'), undefined)
    assert.equal(refuseSpeed('oai', 'openai-completions', 'fast'), undefined)
    for (const provider of ['ant-compatible', 'oai-compatible', 'google', 'acme']) {
      const reason = refuseSpeed(provider, 'openai-completions', 'fast')
      assert.match(reason ?? '', new RegExp(`not supported by provider '${provider}'`))
      assert.equal(refuseSpeed(provider, 'openai-completions', 'standard'), undefined)
    }
  })
})
