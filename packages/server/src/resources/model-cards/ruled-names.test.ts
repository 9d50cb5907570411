import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RuledNames } from '../../ground/core/rules/rules.ts'
import { matcherOf } from '../../ground/core/rules/patterns.ts'
import { namesOfCard } from './ruled-names.ts'

const isAllowed = (names: RuledNames | undefined, pattern: string): boolean =>
  names?.some(matcherOf('models', [pattern])) ?? assert.fail('the card reaches no model')

describe('names of models in allow-lists', () => {
  it('a card that leads to a host with the name of an allowed model is not allowed', async () => {
    const names = await namesOfCard({
      provider: 'ant-compatible',
      model: 'claude-b',
      base_url: 'https://claude-a.elsewhere.example',
    })
    assert.ok(!isAllowed(names, 'claude-*'))
    assert.ok(isAllowed(names, 'claude-a.elsewhere.example/claude-b'))
  })

  it('a model whose name at one provider begins with another provider is not allowed as that one', async () => {
    const names = await namesOfCard({ provider: 'openrouter', model: 'anthropic/claude-a' })
    assert.ok(!isAllowed(names, 'anthropic/*'))
    assert.ok(isAllowed(names, 'openrouter/anthropic/*'))
  })

  it('a model is allowed by its name alone, and behind its provider', async () => {
    const names = await namesOfCard({ provider: 'anthropic', model: 'claude-a' })
    for (const pattern of ['claude-*', 'anthropic/claude-a']) assert.ok(isAllowed(names, pattern))
    assert.ok(!isAllowed(names, 'openai/claude-a'))
  })
})
