import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { exchangeInBody, exchangeInHeaders, derivePlaceholder } from './placeholder.ts'

const key = Buffer.alloc(32, 1)
const ref = { tenant: 'wrkspc_1', session: 'sesn_1', credential: 'vcrd_1' }
const mine = derivePlaceholder(key, ref)
const other = derivePlaceholder(key, { ...ref, credential: 'vcrd_2' })
const secrets = new Map([[mine, 'the real one']])

function exchanged(text: string, cuts: number[]): string {
  const filter = exchangeInBody(secrets)
  const bytes = Buffer.from(text)
  const ends = [...cuts, bytes.length]
  const parts = ends.map((end, i) => filter.write(bytes.subarray(ends[i - 1] ?? 0, end)))
  return Buffer.concat([...parts, filter.end()]).toString()
}

describe('placeholders', () => {
  it('are the same for a session and credential, and differ between them', () => {
    assert.equal(derivePlaceholder(key, { ...ref }), mine)
    const others = [
      other,
      derivePlaceholder(key, { ...ref, session: 'sesn_2' }),
      derivePlaceholder(key, { ...ref, tenant: 'wrkspc_2' }),
      derivePlaceholder(Buffer.alloc(32, 2), ref),
    ]
    assert.equal(new Set([mine, ...others]).size, 5)
    assert.match(mine, /^stw_placeholder_[0-9a-f]{40}$/)
  })

  it('are exchanged in header values, also within Basic credentials', () => {
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    assert.deepEqual(
      exchangeInHeaders(
        [
          ['X-Api-Key', `${mine},${mine}`],
          ['Authorization', basic(`me:${mine}`)],
          ['X-Other', other],
          ['authorization', 'Basic bm90aGluZw'],
        ],
        secrets,
      ),
      [
        ['X-Api-Key', 'the real one,the real one'],
        ['Authorization', basic('me:the real one')],
        ['X-Other', other],
        ['authorization', 'Basic bm90aGluZw'],
      ],
    )
  })

  it('are exchanged in a body wherever it is cut; those of others stay', () => {
    const text = `stw_place ${mine}${mine}"${other}" stw_placeholder_${mine} stw_placeholder_00`
    const expected = `stw_place the real onethe real one"${other}" stw_placeholder_the real one stw_placeholder_00`
    for (let cut = 0; cut <= text.length; cut++) assert.equal(exchanged(text, [cut]), expected)
    const everywhere = Array.from({ length: text.length }, (_, i) => i)
    assert.equal(exchanged(text, everywhere), expected)
  })
})
