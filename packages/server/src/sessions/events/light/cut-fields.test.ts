import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cutFields } from './cut-fields.ts'

const lengths = { head: 10, tail: 5 }

describe('fields of an event that are cut', () => {
  it('keep short texts, and of long ones the beginning, the end and their true size', () => {
    const { fields, cut } = cutFields(
      { a: 'short', b: { 'c/d~': [1, `${'x'.repeat(500)}\nend"`] } },
      lengths,
    )
    assert.deepEqual(fields, { a: 'short', b: { 'c/d~': [1, 'xxxxxxxxxx'] } })
    assert.deepEqual(cut, [{ at: '/b/c~1d~0/1', bytes: 507, tail: '\nend"' }])
  })

  it('hold no base64, and say how many bytes it had', () => {
    for (const length of [0, 1, 2, 3, 1_000, 1_001]) {
      const source = {
        type: 'base64',
        media_type: 'image/png',
        data: Buffer.alloc(length).toString('base64'),
      }
      const { fields, cut } = cutFields({ content: [{ type: 'image', source }] }, lengths)
      assert.deepEqual(fields, {
        content: [{ type: 'image', source: { ...source, data: '' } }],
      })
      assert.deepEqual(cut, [{ at: '/content/0/source/data', bytes: length }])
    }
  })

  it('lose the last items of long lists, the levels of deep ones, and no field of their own', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => index)
    let deep: unknown = 'bottom'
    for (let level = 0; level < 5_000; level++) deep = [deep]
    const { fields, cut } = cutFields({ many, deep, is_error: true }, lengths)
    assert.equal(fields['is_error'], true)
    const kept = fields['many']
    assert.ok(Array.isArray(kept) && kept.length > 100 && kept.length < 1_000)
    assert.deepEqual(cut[0], { at: '/many', left_out: 10_000 - kept.length })
    assert.ok(JSON.stringify(fields).length < 9_000)
    assert.equal(cut[1]?.left_out, 1)
  })

  it('cut no pair of surrogates in two', () => {
    const { fields, cut } = cutFields({ a: `${'x'.repeat(9)}${'😀'.repeat(60)}` }, lengths)
    assert.ok(String(fields['a']).isWellFormed())
    assert.ok(cut[0]?.tail?.isWellFormed())
  })
})
