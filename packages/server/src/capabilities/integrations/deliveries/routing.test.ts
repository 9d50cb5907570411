import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { namedIn } from './routing.ts'

describe('the word behind a mention', () => {
  it('is read behind the mention, and taken out of the request', () => {
    const cases: [string, string | null, string][] = [
      ['@steward reviewer look at this', 'reviewer', '@steward look at this'],
      ['Hello <@UBOT>, coder: mend it', 'coder', 'Hello <@UBOT>, mend it'],
      ['@steward reviewer approve', 'reviewer', '@steward approve'],
      ['reviewer look', 'reviewer', 'look'],
      ['@steward\nrun: echo', 'run', '@steward\necho'],
      ['@steward', null, '@steward'],
      ['<@UBOT> …', null, '<@UBOT> …'],
    ]
    for (const [text, word, rest] of cases) assert.deepEqual(namedIn(text), { word, text: rest })
    const toOthers = 'As @ada said, @Steward coder go on'
    const rest = 'As @ada said, @Steward go on'
    assert.deepEqual(namedIn(toOthers, ['steward']), { word: 'coder', text: rest })
  })

  it('is found in no long time, whatever the text is', () => {
    const begun = performance.now()
    namedIn('<@a|'.repeat(50_000))
    assert.ok(performance.now() - begun < 500)
  })
})
