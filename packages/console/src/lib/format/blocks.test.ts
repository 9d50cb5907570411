import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blocksOf } from './blocks.ts'

const text = '# A\n\nOne\ntwo\n\n```js\nconst a = 1\n\nconst b = 2\n```\n\n- x\n- y'

void describe('the blocks of a text that comes', () => {
  void it('are the text when they are joined, and keep code whole', () => {
    const blocks = blocksOf(text)
    assert.equal(blocks.join(''), text)
    assert.ok(blocks.includes('```js\nconst a = 1\n\nconst b = 2\n```\n\n'))
    assert.equal(blocksOf('').length, 0)
  })

  void it('stay as they are while more is written, but for the last one', () => {
    for (let end = 1; end < text.length; end++) {
      const before = blocksOf(text.slice(0, end))
      const after = blocksOf(text.slice(0, end + 1))
      const kept = before.slice(0, -1)
      assert.deepEqual(after.slice(0, kept.length), kept)
    }
  })
})
