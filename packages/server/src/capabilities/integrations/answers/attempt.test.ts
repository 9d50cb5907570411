import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attemptTelling } from './attempt.ts'
import { githubIntegration } from '../github/github.ts'
import type { AnswerOutcome, Notes, Telling } from '../integration.ts'

const ok = (body: unknown, status = 200): AnswerOutcome => ({
  ...{ status, retryAfter: null },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const confirmation: Telling = {
  ...{ kind: 'confirmation', id: 'sevt_2.sevt_1.buttons', call: 'sevt_1' },
  ...{ name: 'bash', input: '{}' },
}
const begun: Telling = { kind: 'begun', id: 'sevt_0' }
const reply: Telling = { kind: 'reply', id: 'sevt_1', text: 'Done.' }

/** Makes one attempt. GitHub gives these answers in order. */
async function tell(
  telling: Telling,
  answers: AnswerOutcome[],
  {
    earlierAttempts = 0,
    notes = {},
    target = { repository: 'acme/shop', number: 7, since: '2030-01-01T00:00:00Z' },
  }: { earlierAttempts?: number; notes?: Notes; target?: Notes } = {},
) {
  const sent: string[] = []
  const left = [...answers]
  const channel = {
    adapter: githubIntegration,
    letter: (_: Telling, { method, path, headers, body }: Parameters<typeof letterOf>[0]) =>
      letterOf({ method, path, headers, body }),
    async send({ method }: { method: string }): Promise<AnswerOutcome> {
      sent.push(method)
      return left.shift() ?? { error: 'nothing is left' }
    },
  }
  const start = async () => void sent.push('start')
  const { signal } = new AbortController()
  const thread = { session: 'sesn_1', scope: 'acme/shop#7', target, notes }
  const outcome = await attemptTelling(
    { channel, signal, earlierAttempts, start, now: () => 0 },
    telling,
    thread,
  )
  return { outcome, sent }
}

const letterOf = (call: NonNullable<ReturnType<typeof githubIntegration.callFor>>) => ({
  ...call,
  url: call.path,
})

describe('an attempt to send a telling', () => {
  it('is repeated only where an answer says that the one before has made nothing', async () => {
    for (const answer of [ok('[{"id":5,"body":"cut'), ok('', 503), { error: 'no answer' }]) {
      const { outcome, sent } = await tell(begun, [answer], { earlierAttempts: 1 })
      assert.equal(outcome.kind, 'again')
      assert.deepEqual(sent, ['start', 'GET'], 'and the search counts as an attempt')
      const last = await tell(begun, [answer], { earlierAttempts: 7 })
      assert.equal(last.outcome.kind, 'not_taken', 'it is not looked for without an end')
    }
    const { outcome, sent } = await tell(begun, [ok([]), ok({ id: 6 }, 201)], {
      earlierAttempts: 1,
    })
    assert.deepEqual(outcome, { kind: 'told', notes: { comment: 6, comment_at: '7/' } })
    assert.deepEqual(sent, ['start', 'GET', 'POST'])
  })

  it('asks for the commit of a button once, and takes no button for a refused credential', async () => {
    const pull = { target: { repository: 'acme/shop', number: 7, since: 'x', pull: 1 } }
    const head = ok({ head: { sha: 'a'.repeat(40) } })
    const one = await tell(confirmation, [head, ok({ id: 9 }, 201)], pull)
    assert.deepEqual(one.outcome, { kind: 'told', notes: { 'question sevt_1': 9 } })
    assert.deepEqual(one.sent, ['start', 'GET', 'start', 'POST'])
    const target = { ...pull.target, head: 'a'.repeat(40) }
    const mine = { check_runs: [{ id: 9, external_id: `7/sevt_1/${confirmation.id}` }] }
    const again = await tell(confirmation, [ok(mine)], { earlierAttempts: 1, target })
    assert.deepEqual(again, { outcome: one.outcome, sent: ['start', 'GET'] })
    for (const answers of [[ok({}, 403)], [head, ok({}, 403)]])
      assert.equal((await tell(confirmation, answers, pull)).outcome.kind, 'not_taken')
    assert.equal((await tell(confirmation, [ok({}, 503)], pull)).outcome.kind, 'again')
    assert.deepEqual((await tell(confirmation, [])).sent, [], 'an issue has no commit')
  })

  it('goes below the pull request where the thread of a line was deleted, and stays there', async () => {
    const target = { repository: 'acme/shop', number: 7, since: 'x', pull: 1, line_thread: 3 }
    const { outcome, sent } = await tell(begun, [ok({}, 404), ok({ id: 7 }, 201)], { target })
    assert.deepEqual(outcome, { kind: 'told', notes: { comment: 7, comment_at: '7/' } })
    assert.deepEqual(sent, ['start', 'POST', 'start', 'POST'])
  })

  it('is a new comment where somebody has deleted the one to edit', async () => {
    const given = { notes: { comment: 6 } }
    const { outcome, sent } = await tell(reply, [ok({}, 404), ok({ id: 7 }, 201)], given)
    assert.deepEqual(outcome, { kind: 'told', notes: {} })
    assert.deepEqual(sent, ['start', 'PATCH', 'start', 'POST'])
    const mine = [{ id: 7, body: '<!-- steward:sesn_1:sevt_1 -->' }]
    const again = await tell(reply, [ok({}, 404), ok(mine)], { ...given, earlierAttempts: 1 })
    assert.deepEqual(again.sent, ['start', 'PATCH', 'start', 'GET'])
    assert.equal(again.outcome.kind, 'told')
  })

  it('keeps a review whose lines GitHub does not say, or refuses', async () => {
    const review: Telling = { kind: 'reply', id: 'sevt_1', text: '### src/pay.ts:1\nNo.' }
    const target = { repository: 'acme/shop', number: 7, pull: 1, review: 1 }
    const refused = ok('{"message":"Line could not be resolved"}', 422)
    const made = ok({ id: 5 })
    const unseen = await tell(review, [ok({}, 403), made], { target })
    assert.deepEqual(unseen.sent, ['start', 'GET', 'start', 'POST'])
    assert.equal(unseen.outcome.kind, 'told')
    const files = ok([{ filename: 'src/pay.ts', patch: '@@ -1 +1 @@\n-x\n+y' }])
    const bare = await tell(review, [files, refused, made], { target })
    assert.deepEqual(bare.sent, ['start', 'GET', 'start', 'POST', 'start', 'POST'])
    assert.equal(bare.outcome.kind, 'told')
    const later = await tell(review, [ok('', 503)], { target })
    assert.equal(later.outcome.kind, 'again', 'GitHub is asked again')
  })
})
