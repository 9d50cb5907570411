import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PlatformError } from '../../core/errors.ts'
import { structureCheck } from './structure.ts'

/** The number of values in the text, which arrives in pieces of `size` bytes; or the message of the refusal. */
function counted(text: string, { size = 7, values = 1000 } = {}): number | string {
  const bytes = Buffer.from(text)
  const check = structureCheck({ bytes: Infinity, values })
  let found = 0
  try {
    for (let at = 0; at < bytes.length; at += size) found = check(bytes.subarray(at, at + size))
  } catch (error) {
    assert.ok(error instanceof PlatformError && error.kind === 'invalid_request')
    return error.message
  }
  return found
}

describe('the structure of a body', () => {
  it('is counted the same however the body is cut into pieces', () => {
    const text = JSON.stringify({
      'a,[{': ['x,\\"]', '\\', 'é,', '"', { deep: [1, 2.5, -3e7, true, null] }],
      b: {},
      c: '\u2028{[,',
    })
    const whole = counted(text, { size: 10_000 })
    assert.equal(whole, 16)
    for (const size of [1, 2, 3, 7, 64]) assert.equal(counted(text, { size }), whole)
  })

  it('is refused for too many values, which texts do not count as', () => {
    assert.equal(counted(`[${'1,'.repeat(998)}1]`), 1000)
    assert.equal(counted(`[${'1,'.repeat(999)}1]`), 'the body holds more than 1000 values')
    assert.equal(
      counted(`{"name":[${'[],'.repeat(500)}[]]}`),
      'the body holds more than 1000 values',
    )
    assert.equal(counted(JSON.stringify({ a: '[{,'.repeat(2000) })), 2)
  })

  it('is refused for megabytes of space or digits between its texts', () => {
    const why = 'the body holds more than 2097152 bytes outside of its texts'
    for (const filler of [' ', '7'])
      assert.equal(counted(`[${filler.repeat(3_000_000)}]`, { size: 65_536 }), why)
    assert.equal(counted(`["${' '.repeat(3_000_000)}"]`, { size: 65_536 }), 2)
  })

  it('is refused for millions of escapes where a route bounds them, however it is cut', () => {
    const limits = { bytes: Infinity, values: 10, escapes: 100 }
    const feed = (text: string, size: number) => {
      const check = structureCheck(limits)
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += size) check(bytes.subarray(at, at + size))
    }
    for (const size of [1, 2, 7, 1000]) {
      feed(JSON.stringify({ text: '"'.repeat(100) }), size)
      feed(JSON.stringify({ text: '\\'.repeat(100) }), size)
      assert.throws(() => feed(JSON.stringify({ text: '"'.repeat(101) }), size), {
        message: 'the body holds more than 100 escapes in its texts',
      })
    }
  })

  it('is refused beyond 256 levels, and taken with so many', () => {
    const deep = (levels: number) => counted('['.repeat(levels) + ']'.repeat(levels))
    assert.equal(deep(256), 257)
    assert.equal(deep(257), 'the body is nested more than 256 levels deep')
    assert.equal(counted(`[${'{"a":[]},'.repeat(200)}1]`), 602)
  })

  it('is refused for long names, which a parser compares with each other, and taken with long texts', () => {
    const body = (length: number) =>
      JSON.stringify({ ['a'.repeat(length)]: 'b'.repeat(20_000), c: 1 })
    for (const size of [1, 7, 100_000]) {
      assert.equal(counted(body(8_192), { size }), 3)
      assert.equal(counted(body(8_193), { size }), 'the body holds a name of more than 8192 bytes')
    }
  })
})
