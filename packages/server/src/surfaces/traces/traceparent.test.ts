import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseTraceparent, traceparentText } from './traceparent.ts'

const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']

describe('a traceparent', () => {
  it('is written as it was read', () => {
    const text = `00-${trace}-${span}-01`
    const context = parseTraceparent(text)
    assert.ok(context)
    assert.equal(traceparentText(context), text)
  })

  it('of a later version may say more', () => {
    assert.equal(parseTraceparent(`cc-${trace}-${span}-03-more`)?.traceFlags, 1)
  })

  it('that is none begins a trace of its own', () => {
    const wrong = [
      undefined,
      '',
      `00-${trace}-${span}-01-more`,
      `ff-${trace}-${span}-01`,
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${span}-01`,
      `00-${trace}-${span}`,
    ]
    for (const text of wrong) assert.equal(parseTraceparent(text), undefined, text)
  })
})
