import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Filter } from './mask.ts'
import { maskOf } from './mask.ts'

const secret = 'canary-Secret/with+"quote"'
const stars = '*'.repeat(secret.length)

const filterOf = (...secrets: string[]): Filter => {
  const mask = maskOf(secrets)
  assert.ok(mask)
  return mask.filter()
}

/** What comes out when the text is cut at these places. */
function passed(filter: Filter, text: string, cuts: number[]): string {
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

  it('finds a secret in Base64 at any place of a longer text, in URLs and in JSON', () => {
    for (const before of ['', 'a', 'ab', 'x-access-token:']) {
      for (const after of ['', 'z', 'zz']) {
        const clear = `${before}${secret}${after}`
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(clear).toString(encoding)
          const shown = passed(filterOf(secret), `Basic ${text}`, [9])
          assert.equal(shown.length, text.length + 6)
          const decoded = Buffer.from(shown.slice(6).replaceAll('*', 'A'), encoding).toString()
          // At most the bits of one byte on either side are left.
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

  it('masks secrets that overlap, and one that begins within another', () => {
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
    const mask = maskOf(['gehéimnis-ü'])
    const wire = Buffer.from('gehéimnis-ü').toString('latin1')
    assert.equal(mask?.text(`Bearer ${wire}`), `Bearer ${'*'.repeat(wire.length)}`)
    assert.equal(mask?.text('nothing'), 'nothing')
  })

  it('leaves secrets of fewer than 8 bytes alone', () => {
    assert.equal(maskOf(['1234567', '']), undefined)
  })
})
