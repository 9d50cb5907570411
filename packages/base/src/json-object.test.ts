import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseObject } from './json-object.ts'

describe('the fields of a JSON object', () => {
  it('are those of its text', () => {
    assert.deepEqual(parseObject('{"a":1,"b":null}'), { a: 1, b: null })
  })

  it('are refused where the text is no object', () => {
    for (const text of ['', '[]', 'null', '"a"', '1', '{'])
      assert.throws(() => parseObject(text), SyntaxError)
  })
})
