import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownMark } from './texts.ts'

describe('the mark of this service in a text', () => {
  it('is found wherever it is', () => {
    const text = 'One.\n<!-- steward:sesn_1:sevt_1.2 -->\nTwo.<!-- other --><!-- steward:a -->'
    assert.equal(text.replaceAll(ownMark, ''), 'One.\n\nTwo.<!-- other -->')
  })

  it('is found in no long time, whatever the text is', () => {
    const begun = performance.now()
    '<!-- steward:'.repeat(16_000).replaceAll(ownMark, '')
    assert.ok(performance.now() - begun < 500)
  })
})
