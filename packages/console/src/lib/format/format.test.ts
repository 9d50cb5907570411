import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { partsWithHidden } from './hidden-characters.ts'
import { shortId } from './ids.ts'
import { formatBytes, formatCost, formatPrice, formatTokens } from './numbers.ts'
import { partsOfOutput } from './output.ts'
import { formatAge, formatClock, formatDuration, formatWhole } from './times.ts'
import { bytesOf, centsOf, mebibytesOf, wholeOf } from './typed.ts'
import { browserOf } from './user-agents.ts'

void describe('values as people read them', () => {
  void it('has three digits of tokens and as many of a cost as say something', () => {
    const tokens = [0, 412, 6_100, 81_240, 122_000, 1_320_000]
    assert.deepEqual(tokens.map(formatTokens), ['0', '412', '6.1k', '81.2k', '122k', '1.3M'])
    const costs = [0, 0.0004, 0.214, 9.9999, 18.42, 1_204]
    const shown = ['$0.00', '$0.0004', '$0.214', '$10.000', '$18.42', '$1,204']
    assert.deepEqual(costs.map(formatCost), shown)
    assert.deepEqual([3, 0.3, 0.075].map(formatPrice), ['$3.00', '$0.30', '$0.075'])
  })

  void it('has times of day in UTC for those who want them', () => {
    assert.match(formatClock(new Date('2026-01-31T23:05:00Z'), true), /^11:05\sPM UTC$|^23:05 UTC$/)
  })

  void it('has durations without a jump between their units', () => {
    const ms = [
      0, 51, 99.4, 100, 1_240, 9_949, 9_950, 59_400, 59_600, 252_000, 3_599_600, 90_000_000,
    ]
    assert.deepEqual(ms.map(formatDuration), [
      ...['0 ms', '51 ms', '99 ms', '0.1 s', '1.2 s', '9.9 s', '10 s', '59 s', '1 m 00 s'],
      ...['4 m 12 s', '1 h 00 m', '1 d 1 h'],
    ])
  })

  void it('says how long ago in one unit, and nothing of a clock that is ahead', () => {
    const ages = [-5_000, 9_000, 59_000, 3_599_000, 86_399_000, 864_000_000]
    assert.deepEqual(ages.map(formatAge), ['now', 'now', '59 s', '59 min', '23 h', '10 d'])
    assert.match(formatWhole(new Date('2026-11-25T12:04:11.204Z')), /· 2026-11-25 12:04:11 UTC$/)
  })

  void it('has bytes in the unit that shows three digits at most', () => {
    const bytes = [0, 512, 1_023, 4_404_019, 107_374_182_400, 10_737_418]
    assert.deepEqual(bytes.map(formatBytes), [
      ...['0 bytes', '512 bytes', '1.00 KiB', '4.20 MiB', '100 GiB', '10.2 MiB'],
    ])
  })

  void it('reads amounts as people type them, and nothing else', () => {
    const typed = ['1,000', ' 12 ', '1.5', '-1', '', '12.50', '$3', '1e3']
    const none = undefined
    assert.deepEqual(typed.map(wholeOf), [1_000, 12, none, none, none, none, none, none])
    assert.deepEqual(typed.map(centsOf), [100_000, 1_200, 150, none, none, 1_250, 300, none])
    assert.equal(bytesOf('1.5'), 1_572_864)
    assert.equal(bytesOf('much'), none)
    assert.equal(mebibytesOf(1_572_864), '1.5')
  })

  void it('names a browser and its system, and keeps the name of any other program as it is', () => {
    const chrome =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
    const safari =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
    assert.deepEqual(
      [chrome, `${chrome} Edg/140.0`.replace('X11; Linux x86_64', 'Windows NT 10.0'), safari].map(
        browserOf,
      ),
      ['Chrome on Linux', 'Edge on Windows', 'Safari on iPhone'],
    )
    assert.equal(browserOf('curl/8.5.0'), 'curl/8.5.0')
  })

  void it('shortens ids in their middle', () => {
    assert.equal(shortId('sesn_01a21be0d41f7000be61d9f89350dca2'), 'sesn_01a2…dca2')
    assert.equal(shortId('agent_1'), 'agent_1')
  })
})

void describe('an output', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')

  void it('is whole while it is short', () => {
    assert.deepEqual(partsOfOutput('a\nb\n', 2), { head: 'a\nb', tail: '', between: 0 })
    assert.deepEqual(partsOfOutput('', 2), { head: '', tail: '', between: 0 })
    assert.equal(partsOfOutput(lines(5), 2).between, 0)
  })

  void it('has a head, a tail, and the number of lines between', () => {
    const { head, tail, between } = partsOfOutput(lines(50_000), 2)
    assert.deepEqual([head, tail], ['line 0\nline 1', 'line 49998\nline 49999'])
    assert.equal(between, 49_996)
  })

  void it('cuts a line of megabytes, and says how long it is', () => {
    const { head } = partsOfOutput('x'.repeat(4_000_000), 2)
    assert.ok(head.length < 3_000)
    assert.match(head, /… \(4,000,000 characters\)$/)
  })
})

void describe('characters that do not show', () => {
  void it('are parts of their own, named by their codes', () => {
    assert.deepEqual(partsWithHidden('a\u202eb\u200b'), [
      { text: 'a', isHidden: false },
      { text: 'U+202E', isHidden: true },
      { text: 'b', isHidden: false },
      { text: 'U+200B', isHidden: true },
    ])
    assert.deepEqual(partsWithHidden('\u{e0041}'), [{ text: 'U+E0041', isHidden: true }])
  })

  void it('are not line breaks, tabs and letters of any script', () => {
    const text = 'a\tb\nгруша 梨 🍐 é'
    assert.deepEqual(partsWithHidden(text), [{ text, isHidden: false }])
  })
})
