import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StopReason } from '@steward/protocol/events.ts'
import { toJson } from '../../ground/core/text/json-text.ts'
import type { Head } from '../../sessions/log/head.ts'
import { noSpending, stateOf } from '../../sessions/log/head.ts'
import { actionFor, stepFindings } from './decision.ts'

const head = (change: Partial<Head>): Head => ({
  ...{ status: 'idle', stop_reason: null, next_seq: 1, due: 1, owner: null, previous_owner: null },
  ...{ generation: 1, recoveries: 0, running_since_ms: null, active_ms: 0, idle_since_ms: null },
  ...{ inbox_bytes: 0, next_position: 0, expires_at: 0 },
  ...{
    stdio_ms: null,
    awaits_stdio: 0,
    outcome: 0,
    threads: 0,
    url_servers: 0,
    input_tokens: 0,
    output_tokens: 0,
  },
  ...{ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  ...noSpending,
  ...change,
})
const stop = (type: StopReason['type']) => ({
  stop_reason: toJson({ type, event_ids: ['sevt_1'] } as StopReason),
})

describe('the state of a session', () => {
  it('is idle before its first turn, even if it was created with a message and is shown as running', () => {
    assert.equal(stateOf(head({ status: 'pending' })), 'resting')
    assert.equal(stateOf(head({ status: 'running' })), 'resting')
    assert.equal(stateOf(head({ status: 'running', running_since_ms: 0 })), 'running')
  })

  it('follows from the reason why its last turn ended', () => {
    assert.equal(stateOf(head(stop('end_turn'))), 'resting')
    assert.equal(stateOf(head(stop('retries_exhausted'))), 'resting')
    assert.equal(stateOf(head(stop('requires_action'))), 'requires_action')
  })

  it('follows from its spending and its budget, unless it waits for an answer', () => {
    const spent = { list_cost: 10, budget: 10 }
    assert.equal(stateOf(head({ ...stop('end_turn'), ...spent })), 'budget_reached')
    assert.equal(stateOf(head({ ...stop('requires_action'), ...spent })), 'requires_action')
    const left = { ...stop('budget_reached'), list_cost: 10, halted: 1 }
    assert.equal(stateOf(head({ ...left, budget: 10 })), 'budget_reached')
    for (const budget of [11, null])
      assert.equal(stateOf(head({ ...left, budget })), 'budget_raised')
    assert.equal(stateOf(head({ ...left, budget: 11, halted: 0 })), 'resting')
  })

  it('is an evaluation while the work of the last turn is judged, also behind a budget that was raised', () => {
    const evaluating = { outcome: 3, running_since_ms: 0 }
    assert.equal(stateOf(head({ status: 'running', ...evaluating })), 'evaluating')
    assert.equal(stateOf(head({ status: 'rescheduling', ...evaluating })), 'evaluating')
    const halted = { ...stop('budget_reached'), list_cost: 10, halted: 1, outcome: 3 }
    assert.equal(stateOf(head({ ...halted, budget: 10 })), 'budget_reached')
    assert.equal(stateOf(head({ ...halted, budget: 11 })), 'evaluating')
  })

  it('is a turn that nobody runs while its servers are not listed', () => {
    const waits = { awaits_stdio: 1, running_since_ms: 0 }
    assert.equal(stateOf(head({ status: 'running', ...waits })), 'awaits_servers')
    assert.equal(stateOf(head({ status: 'rescheduling', ...waits })), 'awaits_servers')
    assert.equal(stateOf(head({ status: 'rescheduling' })), 'rescheduling')
  })
})

describe('the next step of a session', () => {
  const live = [
    ...(['resting', 'requires_action', 'awaits_servers', 'running', 'rescheduling'] as const),
    ...(['budget_reached', 'budget_raised', 'evaluating'] as const),
  ]

  it('is its removal when it is deleted, whatever waits', () => {
    for (const finding of stepFindings) assert.equal(actionFor('deleted', finding), 'remove')
  })

  it('is its interrupt before anything else', () => {
    for (const state of live) assert.equal(actionFor(state, 'interrupt'), 'settle_interrupt')
  })

  it('is the turn that has begun, before messages that wait', () => {
    for (const finding of ['unanswered', 'answered', 'messages', 'nothing'] as const) {
      assert.equal(actionFor('running', finding), 'recover')
      assert.equal(actionFor('rescheduling', finding), 'recover')
      assert.equal(actionFor('awaits_servers', finding), 'begin')
    }
  })

  it('is an answer, as long as one of its calls waits for it', () => {
    assert.equal(actionFor('resting', 'unanswered'), 'ask_again')
    assert.equal(actionFor('requires_action', 'unanswered'), 'ask_again')
  })

  it('is to go on once all calls are answered, before messages that wait', () => {
    assert.equal(actionFor('resting', 'answered'), 'resume')
    for (const finding of ['answered', 'messages', 'nothing'] as const)
      assert.equal(actionFor('requires_action', finding), 'resume')
  })

  it('is nothing at a reached budget, whatever messages wait, until calls are answered', () => {
    assert.equal(actionFor('budget_reached', 'messages'), 'rest')
    assert.equal(actionFor('budget_reached', 'nothing'), 'rest')
    assert.equal(actionFor('budget_reached', 'unanswered'), 'ask_again')
    assert.equal(actionFor('budget_reached', 'answered'), 'resume')
  })

  it('is the turn that paused at a budget, once that was raised', () => {
    for (const finding of ['answered', 'messages', 'nothing'] as const)
      assert.equal(actionFor('budget_raised', finding), 'resume')
  })

  it('is the evaluation, whatever messages wait', () => {
    for (const finding of ['messages', 'nothing'] as const)
      assert.equal(actionFor('evaluating', finding), 'evaluate')
  })

  it('is the work towards a new outcome, once the session may spend', () => {
    assert.equal(actionFor('resting', 'outcome'), 'promote')
    assert.equal(actionFor('requires_action', 'outcome'), 'resume')
    assert.equal(actionFor('budget_reached', 'outcome'), 'rest')
    assert.equal(actionFor('budget_raised', 'outcome'), 'resume')
  })

  it('is a turn with what waits, or rest', () => {
    assert.equal(actionFor('resting', 'messages'), 'promote')
    assert.equal(actionFor('resting', 'nothing'), 'rest')
    assert.equal(actionFor('done', 'nothing'), 'rest')
  })
})
