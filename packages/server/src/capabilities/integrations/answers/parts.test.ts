import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inParts, splitText } from './parts.ts'

describe('a reply that is too long for one message', () => {
  it('is split between lines, and all of it is there', () => {
    const text = Array.from({ length: 300 }, (_, n) => `line ${n}`).join('\n')
    const parts = splitText(text, 500)
    assert.ok(parts.length > 3 && parts.every((part) => part.length <= 500))
    assert.equal(parts.join('\n'), text)
  })

  it('closes a block of code in one part, and opens it again in the next', () => {
    const code = Array.from({ length: 60 }, (_, n) => `call(${n})`).join('\n')
    const parts = splitText(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, 200)
    assert.ok(parts.length > 2)
    for (const part of parts) assert.equal((part.match(/^```/gm) ?? []).length % 2, 0, part)
    assert.ok(parts.slice(1, -1).every((part) => part.startsWith('```ts\n')))
  })

  it('never cuts a character in two, and ends after ten parts', () => {
    const parts = splitText('\u{1f600}'.repeat(4_000), 101)
    assert.equal(parts.length, 10)
    assert.ok(parts.every((part) => part.isWellFormed()))
  })

  it('has an id for each part, and stays whole where it fits', () => {
    const short = { kind: 'reply', id: 'sevt_1', text: 'Done.' } as const
    assert.deepEqual(inParts(short, 100), [short])
    const long = { ...short, text: 'word '.repeat(60) }
    assert.deepEqual(
      inParts(long, 100).map(({ kind, id }) => `${kind} ${id}`),
      ['reply sevt_1', 'more sevt_1.2', 'more sevt_1.3', 'more sevt_1.4'],
    )
    assert.deepEqual(inParts(long, undefined), [long])
  })
})
