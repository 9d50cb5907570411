import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MaskFilter } from './mask.ts'
import { createMask } from './mask.ts'

const secret = 'canary-Secret/with+"quote"'
const stars = '*'.repeat(secret.length)

const filterOf = (...secrets: string[]): MaskFilter => {
  const mask = createMask(secrets)
  assert.ok(mask)
  return mask.filter()
}

/** The masked text when the input is cut at these places. */
function passed(filter: MaskFilter, text: string, cuts: number[]): string {
  const bytes = Buffer.from(text, 'latin1')
  const ends = [...cuts, bytes.length]
  const parts = ends.map((end, i) => filter.write(bytes.subarray(ends[i - 1] ?? 0, end)))
  return Buffer.concat([...parts, filter.end()]).toString('latin1')
}

describe('masking', () => {
  // verifies: proxy/masked
  it('overwrites a secret with as many stars, wherever the body is cut', () => {
    const text = `{"a":"${secret}","b":"${secret}${secret}"}`
    const expected = `{"a":"${stars}","b":"${stars}${stars}"}`
    for (let cut = 0; cut <= text.length; cut++) {
      assert.equal(passed(filterOf(secret), text, [cut]), expected)
    }
    const everywhere = Array.from({ length: text.length }, (_, i) => i)
    assert.equal(passed(filterOf(secret), text, everywhere), expected)
  })

  it('finds a secret in Base64 at any offset of a longer text, in URLs and in JSON', () => {
    for (const before of ['', 'a', 'ab', 'x-access-token:']) {
      for (const after of ['', 'z', 'zz']) {
        const clear = `${before}${secret}${after}`
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(clear).toString(encoding)
          const shown = passed(filterOf(secret), `Basic ${text}`, [9])
          assert.equal(shown.length, text.length + 6)
          const decoded = Buffer.from(shown.slice(6).replaceAll('*', 'A'), encoding).toString()
          // Masking leaves at most the bits of one byte on either side.
          assert.ok(!decoded.includes(secret.slice(1, 6)), decoded)
          assert.ok(!decoded.includes(secret.slice(-6, -1)), decoded)
        }
      }
    }
    for (const spelled of [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      const shown = passed(filterOf(secret), `<${spelled}>`, [])
      assert.equal(shown, `<${'*'.repeat(spelled.length)}>`)
    }
  })

  it('finds a secret that was spelled for JSON and then again, as a form, in a URL or in Base64', () => {
    const json = (text: string) => JSON.stringify(text).slice(1, -1)
    const form = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
    for (const once of [secret, json(secret), json(json(secret))]) {
      for (const spelled of [once, form(once), encodeURIComponent(once)]) {
        const shown = passed(filterOf(secret), `<${spelled}>`, [7])
        assert.equal(shown, `<${'*'.repeat(spelled.length)}>`)
        const hidden = passed(filterOf(secret), Buffer.from(`x${spelled}`).toString('base64'), [])
        const left = Buffer.from(hidden.replaceAll('*', 'A'), 'base64').toString()
        assert.ok(!left.includes('Secret'), left)
      }
    }
  })

  it('masks secrets that overlap, and a secret that begins within another', () => {
    const filter = () => filterOf('abcabcabc', 'abcabc-longer')
    const text = 'abcabcabcabcabc-longer.'
    for (let cut = 0; cut <= text.length; cut++) {
      assert.equal(passed(filter(), text, [cut]), `${'*'.repeat(22)}.`)
    }
  })

  it('holds back nothing but the possible beginning of a secret', () => {
    const filter = filterOf(secret)
    assert.equal(filter.write(Buffer.from('data: {"x":1}\n\n')).toString(), 'data: {"x":1}\n\n')
    assert.equal(filter.write(Buffer.from('data: can')).toString(), 'data: ')
    assert.equal(filter.write(Buffer.from('not\n\n')).toString(), 'cannot\n\n')
  })

  it('shows a beginning that no secret followed', () => {
    assert.equal(passed(filterOf(secret), 'canary-Secr', [3]), 'canary-Secr')
  })

  it('masks header values, and bytes beyond ASCII', () => {
    const mask = createMask(['gehéimnis-ü'])
    const wire = Buffer.from('gehéimnis-ü').toString('latin1')
    assert.equal(mask?.header(`Bearer ${wire}`), `Bearer ${'*'.repeat(wire.length)}`)
    assert.equal(mask?.header('nothing'), 'nothing')
  })

  it('does not hide secrets of fewer than 8 bytes', () => {
    assert.equal(createMask(['1234567', '']), undefined)
  })
})

/** Spells each character plain or as one of its escapes, chosen by a number generator. */
const escapesOf = (char: string): string[] => {
  const hex = char.charCodeAt(0).toString(16)
  const byte = hex.padStart(2, '0')
  const named = /["\\/]/.test(char) ? [`\\${char}`] : []
  return [
    char,
    `\\u${hex.padStart(4, '0')}`,
    `\\u${hex.padStart(4, '0').toUpperCase()}`,
    `%${byte}`,
    `%${byte.toUpperCase()}`,
    ...named,
  ]
}
const unicode = (text: string) =>
  text
    .split('')
    .map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
const json = (text: string) => JSON.stringify(text).slice(1, -1)
/** A small generator that gives the same numbers in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
const inLines = (text: string, length: number, end: string) =>
  text.replaceAll(new RegExp(`.{${length}}`, 'g'), `$&${end}`)

describe('masking secrets that are spelled in another way', () => {
  // verifies: proxy/masked
  it('finds every character as it is or escaped, in any mixture, wherever the body is cut', () => {
    const next = numbers(1)
    for (let round = 0; round < 200; round++) {
      const spelled = secret
        .split('')
        .map((char) => {
          const ways = escapesOf(char)
          return ways[next(ways.length)] ?? char
        })
        .join('')
      const text = `{"echo":"${spelled}"}`
      const cuts = [next(text.length), next(text.length)].toSorted((a, b) => a - b)
      assert.equal(passed(filterOf(secret), text, cuts), `{"echo":"${'*'.repeat(spelled.length)}"}`)
    }
  })

  it('finds JSON in JSON in JSON, with `\\/`, with `\\u003c`, and all in \\u', () => {
    const angled = 'canary<Secret>&/+"\\x'
    const slashed = (text: string) => json(text).replaceAll('/', '\\/')
    const angles = (text: string) => json(text).replaceAll(/[<>&+]/g, (char) => unicode(char))
    for (const once of [json, slashed, angles, unicode]) {
      for (const spelled of [once(angled), once(once(angled)), once(once(once(angled)))]) {
        const shown = passed(filterOf(angled), `<${spelled}>`, [11])
        assert.equal(shown, `<${'*'.repeat(spelled.length)}>`)
      }
    }
  })

  it('finds URLs within JSON and JSON within URLs, encoded twice, with `/` unchanged', () => {
    const kept = encodeURIComponent(secret).replaceAll('%2F', '/')
    const twice = encodeURIComponent(encodeURIComponent(secret))
    for (const spelled of [
      kept,
      twice,
      json(kept),
      encodeURIComponent(json(secret)),
      unicode(twice),
    ])
      assert.equal(passed(filterOf(secret), spelled, [9]), '*'.repeat(spelled.length))
  })

  it('finds characters beyond ASCII as JSON spells them', () => {
    const odd = 'gehéimnis-😀-ü'
    for (const spelled of [unicode(odd), json(unicode(odd)), encodeURIComponent(odd)])
      assert.equal(passed(filterOf(odd), `<${spelled}>`, []), `<${'*'.repeat(spelled.length)}>`)
  })

  it('finds Base64 in lines, of mails and of certificates, indented, and within JSON', () => {
    const long = `${secret}-${'and-more'.repeat(20)}`
    for (const before of ['', 'a', 'ab', 'x'.repeat(40), 'x'.repeat(53)]) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + long).toString(encoding)
        for (const [length, end] of [
          ...[[76, '\r\n'] as const, [64, '\n'] as const, [64, '\n      '] as const],
          ...[[76, '\\r\\n'] as const, [64, '\\\\n'] as const, [64, '%0A'] as const],
        ]) {
          const lines = inLines(text, length, end)
          const shown = passed(filterOf(long), lines, [lines.length >> 1])
          // The secret may leave only the edges that it shares with its neighbours.
          const left =
            shown.replaceAll(/\*|\s|\\+[rn]|%0A/g, '').length - Math.ceil((before.length * 4) / 3)
          assert.ok(left <= 6, `${before.length} ${length} ${JSON.stringify(end)}: ${shown}`)
        }
      }
    }
    const slashes = Buffer.from(`${'?'.repeat(9)}${secret}`).toString('base64')
    const escaped = slashes.replaceAll('/', '\\/').replaceAll('+', '\\u002B')
    assert.ok(!passed(filterOf(secret), escaped, []).replaceAll('*', '').includes('NhbmFye'))
  })

  it('finds a secret whose beginning looks like a part of an escape, whatever comes before it', () => {
    const hex = 'deadbeef0123456789abcdef'
    const slashed = 'decade/0123"456789'
    for (const before of ['%', '%%', '%25', '%4', '\\u', '\\u00', '\\', '\\\\', 'd%', '%\\u0'])
      for (const text of [hex, 'npm_abcdefghijklmnop', slashed, json(slashed)]) {
        const all = before + text
        const cuts = [before.length, before.length + 3]
        const shown = passed(filterOf(hex, 'npm_abcdefghijklmnop', slashed), all, cuts)
        assert.equal(shown.slice(before.length), '*'.repeat(text.length), all)
      }
    const escaped = slashed.replaceAll('/', '\\/').replaceAll('"', '\\"')
    assert.equal(passed(filterOf(slashed), `%${escaped}`, []), `%${'*'.repeat(escaped.length)}`)
  })

  it('finds a secret of backslashes and percent signs', () => {
    const odd = 'a\\b%41\\\\c"d%zz\\u0041'
    for (const spelled of [odd, json(odd), json(json(odd)), encodeURIComponent(odd)])
      assert.equal(passed(filterOf(odd), `<${spelled}>`, [5]), `<${'*'.repeat(spelled.length)}>`)
  })

  it('finds a secret far from anything else, and among many', () => {
    const others = Array.from({ length: 40 }, (_, i) => `secret-number-${i}-of-many`)
    const filter = filterOf(...others)
    const noise = 'a line of text, \\"quoted\\", 100 % of it\n'.repeat(3_000)
    const text = others.map((each) => noise.slice(0, 3_000) + each).join('')
    const shown = passed(filter, text, [7_777, 77_777])
    assert.equal(shown.length, text.length)
    assert.ok(!shown.includes('secret-number'))
  })

  it('shows what only begins like a secret, and what only looks like an escape', () => {
    for (const text of [
      'canary-Secret/with',
      '\\u00',
      '\\',
      '%',
      '%4',
      '\\uD83D',
      'a\\u12xy%zz\\\\',
    ])
      assert.equal(passed(filterOf(secret), text, [1]), text)
  })

  it('takes as long for what is made to be slow as for anything else', () => {
    const megabyte = 1024 * 1024
    const periodic = 'ab'.repeat(4_000)
    const timeOf = (text: string, mask: string) => {
      const filter = filterOf(mask)
      const bytes = Buffer.from(text)
      const began = process.cpuUsage()
      for (let at = 0; at < bytes.length; at += 1_000) filter.write(bytes.subarray(at, at + 1_000))
      filter.end()
      return process.cpuUsage(began).user / 1000
    }
    const slow: [text: string, mask: string][] = [
      ['\\', secret],
      ['%25', secret],
      ['\\u005c', secret],
      ['\\ud83d', secret],
      ['canary-Secre', secret],
      ['c\\\\\\\\', secret],
      ['c\n', secret],
      ['ab', periodic],
      [`${'ab'.repeat(3_999)}c`, periodic],
      ['\\u0061b', periodic],
    ]
    for (const [unit, mask] of slow) {
      const text = unit.repeat(megabyte / unit.length)
      // The first run warms up the compiler.
      const ms = Math.min(timeOf(text, mask), timeOf(text, mask))
      const twice = timeOf(text + text, mask)
      assert.ok(
        twice < 4 * ms + 100,
        `${unit.slice(0, 20)}: ${ms} ms, and ${twice} for twice as much`,
      )
      assert.ok(ms < 2_000, `${unit.slice(0, 20)}: ${ms} ms for a megabyte`)
    }
  })

  it('holds no more than a secret may need, however its beginning is stretched', () => {
    const filter = filterOf(secret)
    let shown = filter.write(Buffer.from('canary')).length
    for (let i = 0; i < 100; i++) {
      shown += filter.write(Buffer.from(`${'\\'.repeat(500)}${'\n'.repeat(500)}`)).length
      assert.ok(6 + 1_000 * (i + 1) - shown < 1_100)
    }
  })
})
