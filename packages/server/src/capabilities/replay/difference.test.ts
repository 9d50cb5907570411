import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from '@steward/base/cost-fixture.ts'
import { diffTexts } from './difference.ts'

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
