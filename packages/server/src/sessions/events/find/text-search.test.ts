import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findText, firstText, textSearch } from './text-search.ts'

const find = (fields: object, text: string) => findText(fields, textSearch(text))

describe('a search for a text in an event', () => {
  it('says where the text is, and what is around it', () => {
    const fields = { name: 'bash', input: { 'a/b': [`${'x'.repeat(300)} Not FOUND here`] } }
    assert.deepEqual(find(fields, 'not found'), {
      at: '/input/a~1b/0',
      index: 301,
      before: `${'x'.repeat(99)} `,
      text: 'Not FOUND',
      after: ' here',
    })
  })

  it('knows letters of any alphabet, in any case, and signs that mean something elsewhere', () => {
    for (const [written, asked] of [
      ['GRÖẞE', 'größe'],
      ['Ωmega', 'ωMEGA'],
      ['100%_done', '100%_DONE'],
      [String.raw`C:\new`, String.raw`c:\NEW`],
      ['say "hi"', '"HI"'],
      ['a(b)[c]{d}|e^f$', '(b)[c]{d}|e^f$'],
      ['one\ntwo', 'one\ntwo'],
      ['one\n   two', 'one two'],
      ['a\u001b[31m', '\u001b[31m'],
      ['😀😁', '😁'],
      ['what!', 'what!'],
    ] as const)
      assert.ok(find({ text: `< ${written} >` }, asked), asked)
    assert.equal(find({ text: '100Xdone' }, '100%done'), undefined)
    assert.ok(find({ text: 'a\nb' }, '\n'))
  })

  it('looks at no id, no word of the service and no base64', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'abcd' }
    const fields = { tool_use_id: 'sevt_abcd', content: [{ type: 'image', source }] }
    for (const text of ['sevt', 'image', 'base64', 'abcd'])
      assert.equal(find(fields, text), undefined, text)
  })

  it('makes patterns that hold for the JSON of the text', () => {
    assert.equal(textSearch('Say "Hi"\n100%').like, String.raw`%say%\"hi\"%100!%%`)
    assert.equal(textSearch(String.raw`a\b`).like, String.raw`%a\\b%`)
    assert.equal(textSearch('Größe').like, '%gr__e%')
    assert.equal(textSearch('\n').like, String.raw`%\n%`)
  })

  it('shows without a text the beginning of an event, or its end', () => {
    const fields = { content: [{ type: 'text', text: `begins${'.'.repeat(500)}ends` }] }
    assert.ok(firstText(fields, false)?.after.startsWith('begins'))
    assert.ok(firstText(fields, true)?.before.endsWith('ends'))
    assert.equal(firstText({}, true), undefined)
  })
})
