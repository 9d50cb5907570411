import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { diffTexts, normalizeEvents } from './difference.ts'

describe('events of two runs', () => {
  it('are the same whatever the order of their fields', () => {
    const content = [{ type: 'text' as const, text: 'ran' }]
    const type = 'agent.tool_result' as const
    const stored = { type, tool_use_id: 'sevt_1', content, is_error: false, id: 'sevt_2' }
    const made = { id: 'sevt_3', type, tool_use_id: 'sevt_1', content, is_error: false }
    assert.deepEqual(normalizeEvents([stored]), normalizeEvents([made]))
  })
})

describe('a difference', () => {
  it('has the lines of both texts in order', () => {
    assert.equal(diffTexts('a\nb\nc\nb', 'b\nc\nd\nb'), '- a\n  b\n  c\n+ d\n  b')
    assert.equal(diffTexts('', 'a'), '+ a')
  })

  it('takes no time for long lines that begin alike', () => {
    const textOf = (mark: string) =>
      Array.from({ length: 999 }, (_, line) => `${'a'.repeat(30_000)}${mark}${1_000 + line}`)
    const [before, now] = [textOf('x').join('\n'), textOf('y').join('\n')]
    const began = processorMs()
    assert.equal(diffTexts(before, now).length, before.length + now.length + 1 + 4 * 999)
    assert.ok(processorMs() - began < 1_500)
  })
})
