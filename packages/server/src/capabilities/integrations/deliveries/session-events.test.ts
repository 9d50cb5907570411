import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { WakeKind } from '@steward/protocol/integrations.ts'
import type { PendingCall } from '../../../sessions/log/calls.ts'
import type { Notes } from '../integration.ts'
import { questionNote, toldCalls, withoutQuestion, withQuestion } from '../answers/questions.ts'
import { buildSessionEvents } from './session-events.ts'

const call = (event_id: string, state: PendingCall['state'] = 'asked'): PendingCall => ({
  ...{ event_id, state, seq: 1, deny_message: null },
  type: 'agent.tool_use',
})
const [one, other] = ['sevt_one111', 'sevt_two222']
const calls = [call(one), call(other)]

function given(text: string, questions: string[], open = calls, notes: Notes = {}) {
  const message = {
    kind: 'message' as const,
    ...{ scope: '7', author: 'ada', text, questions, context: {}, target: {} },
  }
  const found = buildSessionEvents(message, { calls: open, notes })
  assert.ok(found.kind === 'events')
  return found.events.map((event) =>
    event.type === 'user.tool_confirmation' ? [event.result, event.tool_use_id] : event.type,
  )
}

describe('a word that answers a question', () => {
  it('answers the one question that its thread showed when the word came', () => {
    assert.deepEqual(given('Approve.', [one]), [['allow', one]])
    assert.deepEqual(given('@steward deny', [other]), [['deny', other]])
  })

  it('is a message if its thread shows no open question', () => {
    assert.deepEqual(given('approve', []), ['user.message'])
    assert.deepEqual(given('approve', [one], [call(one, 'started'), call(other)]), ['user.message'])
    assert.deepEqual(given('approve nobody', [one]), ['user.message'])
  })

  it('names the question that it means where several are open', () => {
    assert.throws(() => given('approve', [one, other]), /2 questions are open.*approve one111/)
    assert.deepEqual(given('approve ONE111', [one, other]), [['allow', one]])
    assert.deepEqual(given('reject two222', [one, other]), [['deny', other]])
    assert.deepEqual(given('approve two222', [one]), ['user.message'], 'nobody was told')
  })
})

describe('what wakes an agent', () => {
  it('answers no question, but for a review', () => {
    const eventOf = (kind: WakeKind) => {
      const found = buildSessionEvents(
        {
          ...{ kind: 'message', scope: '7', author: 'ci', text: 'Checks have failed.' },
          ...{ context: {}, target: {}, wake: { kind, pull_request: '7', head: 'a' } },
        },
        { calls: [{ ...call(one, 'started'), type: 'agent.custom_tool_use' }], notes: {} },
      )
      return found.kind === 'events' && found.events[0]?.type
    }
    assert.equal(eventOf('failed_checks'), 'user.message')
    assert.equal(eventOf('new_commits'), 'user.message')
    assert.equal(eventOf('changes_requested'), 'user.custom_tool_result')
  })
})

describe('a button', () => {
  const pressed = (notes: Notes) =>
    buildSessionEvents(
      {
        ...{ kind: 'decision', scope: '7', author: 'ada' },
        call: one,
        message: '9',
        result: 'allow',
      },
      { calls, notes },
    )

  it('counts on the message of its question alone', () => {
    assert.equal(pressed({ [questionNote(one)]: 9 }).kind, 'events')
    assert.equal(pressed({ [questionNote(one)]: '10' }).kind, 'ignored')
    assert.equal(pressed({ [questionNote(other)]: 9 }).kind, 'ignored')
    assert.throws(() => pressed({ [questionNote(one)]: null }), /is not known/)
  })
})

describe('the questions of a thread', () => {
  const question = {
    kind: 'question' as const,
    needs: 'confirmation' as const,
    ...{ id: 'e', call: one, name: 'bash', input: '{}' },
  }
  const action = { ...question, kind: 'action' as const, isError: false }

  it('are noted from before they are sent until their calls have results', () => {
    const notes = withQuestion(question, { sent_file: 'file_1' })
    assert.deepEqual(toldCalls(notes), [one])
    assert.deepEqual(withQuestion(question, { [questionNote(one)]: 9 }), { [questionNote(one)]: 9 })
    assert.deepEqual(withoutQuestion({ ...action, result: null }, notes), notes)
    assert.deepEqual(withoutQuestion({ ...action, result: '' }, notes), { sent_file: 'file_1' })
  })
})
