import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { placeRemarks, placeUnseen, segmentsOf, textWithout } from './remarks.ts'

const patch = [
  '@@ -1,3 +1,4 @@ import',
  ' one',
  '-two',
  '+zwei',
  '+drei',
  ' three',
  '@@ -40 +41 @@',
  '-old',
  '+new',
].join('\n')
const files = JSON.stringify([
  { filename: 'src/pay.ts', patch },
  { filename: 'src/cart/total.ts', patch },
  { filename: 'picture.png' },
])
const remarksIn = (text: string) => segmentsOf(text).flatMap(({ remark }) => remark ?? [])

describe('the remarks of a message', () => {
  it('begin at headings that name a path and a line, however these are written', () => {
    const headings = [
      '### src/pay.ts:12',
      '## `src/pay.ts:12`',
      '# **./src/pay.ts:12**:',
      '#### /src/pay.ts#L12',
      '### src/pay.ts line 12 ###',
      '### src/pay.ts:L12 (after)',
      '### src/pay.ts:12 ##\r',
    ]
    for (const heading of headings) {
      assert.deepEqual(
        remarksIn(`Good.\n\n${heading}\n\nName it sum.`),
        [{ path: 'src/pay.ts', line: 12, side: 'RIGHT', text: 'Name it sum.' }],
        heading,
      )
    }
    const [ranged] = remarksIn('### src/pay.ts:15-12 (before) – Still used\nBy the cart.')
    const text = '**Still used**\n\nBy the cart.'
    assert.deepEqual(ranged, { path: 'src/pay.ts', line: 15, from: 12, side: 'LEFT', text })
  })

  it('end at the next heading, and code within them is no heading', () => {
    const suggestion = '```suggestion\n# src/pay.ts:1\nlet sum\n```'
    const message = `Fine.\n### src/pay.ts:3\n${suggestion}\n## In all\nMerge it.`
    assert.deepEqual(
      remarksIn(message).map(({ text }) => text),
      [suggestion],
    )
    assert.equal(textWithout(message, [1]), 'Fine.\n## In all\nMerge it.')
    assert.equal(textWithout(message, []), message)
  })

  it('are not what has no line or no text, nor what is too long or too many', () => {
    for (const heading of ['## Summary', '### src/pay.ts', '### :7', '### src/pay.ts:0', '#x:1'])
      assert.deepEqual(remarksIn(`${heading}\nText.`), [], heading)
    assert.deepEqual(remarksIn('### src/pay.ts:3\n\n### src/pay.ts:4'), [])
    assert.deepEqual(remarksIn(`### src/pay.ts:3\n${'x'.repeat(10_001)}`), [])
    const many = Array.from({ length: 60 }, (_, at) => `### src/pay.ts:${at + 1}\nx`).join('\n')
    assert.equal(remarksIn(many).length, 50)
    assert.deepEqual(remarksIn(`### src/pay.ts:3\nx\n## y\n${'x'.repeat(50_000)}`), [])
  })

  it('take no long time, whatever the message is', () => {
    for (const line of [
      '# ' + 'a '.repeat(20_000),
      '#'.repeat(45_000),
      `# ${'a:'.repeat(20_000)}`,
      `# a${' '.repeat(45_000)}b`,
      `# a${' #'.repeat(22_000)}b`,
      `# a:1 ${' '.repeat(45_000)}b\u2028c`,
      `# a:1${' line 1'.repeat(6_000)}`,
      `${'`'.repeat(45_000)}\r`,
    ]) {
      const begun = performance.now()
      segmentsOf(line)
      assert.ok(performance.now() - begun < 500)
    }
  })
})

describe('the lines of remarks', () => {
  const placesOf = (...headings: string[]) =>
    placeRemarks(headings.map((each) => `### ${each}\nx`).join('\n'), files)?.map(
      ({ segment: _, ...place }) => place,
    )

  it('are lines that are added, around them, or removed', () => {
    const path = 'src/pay.ts'
    assert.deepEqual(placesOf('src/pay.ts:3', 'src/pay.ts:4', 'src/pay.ts:2 (before)'), [
      { path, line: 3, side: 'RIGHT' },
      { path, line: 4, side: 'RIGHT' },
      { path, line: 2, side: 'LEFT' },
    ])
    const absent = ['src/pay.ts:5', 'src/pay.ts:1 (before)', 'src/other.ts:3', 'picture.png:1']
    assert.deepEqual(placesOf(...absent), [])
  })

  it('are several lines of one part of a file, or else the last of them', () => {
    const path = 'src/pay.ts'
    assert.deepEqual(placesOf('src/pay.ts:1-3', 'src/pay.ts:3-41'), [
      { path, line: 3, from: 1, side: 'RIGHT' },
      { path, line: 41, side: 'RIGHT' },
    ])
  })

  it('are found by the end of a path where only one file has it', () => {
    assert.deepEqual(placesOf('total.ts:3'), [
      { path: 'src/cart/total.ts', line: 3, side: 'RIGHT' },
    ])
  })

  it('are those of the message where the changes cannot be read', () => {
    assert.equal(placeRemarks('### a.ts:3\nx', '[{"filename":"a'), undefined)
    assert.deepEqual(placeUnseen('### a.ts:3\nx'), [
      { segment: 1, path: 'a.ts', line: 3, side: 'RIGHT' },
    ])
  })
})
