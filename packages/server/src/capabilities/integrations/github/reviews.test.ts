import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ExternalThread, Notes } from '../integration.ts'
import { githubIntegration } from './github.ts'

const thread: ExternalThread = {
  session: 'sesn_1',
  scope: 'acme/shop#7',
  target: { repository: 'acme/shop', number: 7, since: '2030-01-01T00:00:00Z' },
  notes: {},
}
const text = 'Nearly.\n### src/pay.ts:1\nAsk @ada.\n### src/far.ts:9\nToo far.'
const remarks = { kind: 'remarks', id: 'sevt_1.remarks', text } as const
const reply = { kind: 'reply', id: 'sevt_1', text } as const
const pull = { ...thread, target: { ...thread.target, pull: 1 }, notes: { comment: 6 } }
const { lookUp } = githubIntegration
const files = JSON.stringify([{ filename: 'src/pay.ts', patch: '@@ -1 +1 @@\n-x\n+y' }])
const placedTarget = (): Notes => lookUp?.targetOf(remarks, pull, files) ?? {}

describe('remarks on lines', () => {
  it('are looked up once, on pull requests alone', () => {
    assert.equal(lookUp?.callFor(remarks, thread), null, 'an issue has no lines')
    assert.equal(lookUp?.callFor(reply, pull), null)
    assert.equal(lookUp?.callFor({ ...remarks, text: 'Fine.' }, pull), null)
    const asked = lookUp?.callFor(remarks, pull)?.path
    assert.equal(asked, '/repos/acme/shop/pulls/7/files?per_page=100')
    assert.equal(lookUp?.callFor(remarks, { ...pull, target: placedTarget() }), null)
  })

  it('are one review, which is found by its mark, and the answer has all others', () => {
    const placed = { ...pull, target: placedTarget() }
    const review = githubIntegration.callFor(remarks, placed)
    const { comments, body, event } = JSON.parse(review?.body ?? '')
    const comment = { path: 'src/pay.ts', line: 1, side: 'RIGHT', body: 'Ask @\u200bada.' }
    assert.deepEqual([comments, event], [[comment], 'COMMENT'])
    assert.ok(body.startsWith('1 remark on lines.\n'))
    assert.equal(githubIntegration.searchFor(remarks, placed)?.path, `${review?.path}?per_page=100`)
    const html_url = 'https://github.com/acme/shop/pull/7#pullrequestreview-5'
    const found = githubIntegration.found(
      remarks,
      placed,
      JSON.stringify([{ id: 5, body, html_url }]),
    )
    assert.equal(found.kind, 'found')
    const notes = githubIntegration.noted(remarks, placed, JSON.stringify({ id: 5, html_url }))
    assert.deepEqual('notes' in found && found.notes, notes)
    const answer = githubIntegration.callFor(reply, { ...pull, notes })
    assert.equal(answer?.method, 'PATCH')
    const { body: left } = JSON.parse(answer?.body ?? '')
    const rest = 'Nearly.\n### src/far.ts:9\nToo far.\n\n'
    assert.ok(left.startsWith(`${rest}[1 remark on lines.](${html_url})`), left)
    const other = githubIntegration.callFor({ ...reply, id: 'sevt_9' }, { ...pull, notes })
    assert.ok(other?.body?.includes('### src/pay.ts:1'), 'another answer has its own remarks')
  })

  it('belong to a requested review, and to its text where GitHub refuses them', () => {
    const text = '### src/pay.ts:1\nNo.'
    const own = { ...reply, text }
    const asked = { ...thread, target: { ...thread.target, pull: 1, review: 1 } }
    assert.equal(githubIntegration.callFor({ ...remarks, text }, asked), null, 'one review')
    const target = githubIntegration.lookUp?.targetWithout?.(own, asked)
    assert.ok(target)
    const call = githubIntegration.callFor(own, { ...asked, target })
    const { comments, body } = JSON.parse(call?.body ?? '')
    assert.equal(comments.length, 1)
    assert.ok(body.startsWith('1 remark on lines.'))
    assert.ok(call?.otherTarget)
    const plain = githubIntegration.callFor(own, { ...asked, target: call.otherTarget })
    const shown = JSON.parse(plain?.body ?? '')
    assert.equal(shown.comments, undefined)
    assert.ok(shown.body.startsWith(text), 'nothing is lost')
    assert.equal(plain?.otherTarget, undefined)
  })
})
