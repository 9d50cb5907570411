import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorMs } from './cost-fixture.ts'
import { includesText, findOccurrences } from './occurrences.ts'

describe('a text within a text', () => {
  it('is found where the platform finds it', () => {
    const letters = ['a', 'b', 'é', '😀']
    const texts = Array.from({ length: 500 }, (_, seed) =>
      Array.from({ length: 1 + (seed % 9) }, (_, at) => letters[((seed * (at + 3)) % 7) & 3]).join(
        '',
      ),
    )
    for (const [index, sought] of texts.entries()) {
      const text = texts.slice(index, index + 9).join('')
      const parts = text.split(sought)
      const positions = findOccurrences(text, sought, Infinity)
      assert.equal(positions.length, parts.length - 1)
      for (const at of positions) assert.ok(text.startsWith(sought, at))
      assert.equal(positions[0] ?? -1, text.indexOf(sought))
      assert.equal(includesText(text, sought), text.includes(sought))
    }
  })

  it('is found as often as wanted, and an empty one always', () => {
    assert.deepEqual(findOccurrences('aaaaa', 'aa', 9), [0, 2])
    assert.deepEqual(findOccurrences('aaaaa', 'a', 2), [0, 1])
    assert.deepEqual(findOccurrences('a', 'aa', 9), [])
    assert.ok(includesText('', ''))
    assert.ok(!includesText('', 'a'))
  })

  it('is found in no time, whatever both are', () => {
    const [text, half] = ['a'.repeat(1_000_000), 'a'.repeat(25_000)]
    const began = processorMs()
    assert.ok(!includesText(text, `${half}b${half}`))
    assert.ok(includesText(`${text}b${half}`, `${half}b${half}`))
    assert.ok(processorMs() - began < 2_000)
  })
})
