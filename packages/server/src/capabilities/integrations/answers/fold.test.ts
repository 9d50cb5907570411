import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCall } from '@steward/protocol/call-events.ts'
import type { NewEvent, StopReason } from '@steward/protocol/events.ts'
import type { LogEvent } from './fold.ts'
import { callsIn, foldSteps } from './fold.ts'

type ByWorker = { executed_by?: 'worker' }

const bash = (id: string, evaluated_permission: 'allow' | 'ask', by: ByWorker = {}): NewEvent => ({
  ...{ id, type: 'agent.tool_use', name: 'bash', input: {} },
  ...{ evaluated_permission, ...by },
})
const byWorker = { executed_by: 'worker' } as const
const custom = (id: string): NewEvent => ({
  ...{ id, type: 'agent.custom_tool_use', name: 'mine', input: {} },
})
const idle = (id: string, stop_reason: StopReason): NewEvent => ({
  ...{ id, type: 'session.status_idle', stop_reason, stop_details: null },
})
const waits = (id: string, ...event_ids: string[]): NewEvent =>
  idle(id, { type: 'requires_action', event_ids })
const result = (id: string, tool_use_id: string): NewEvent => ({
  ...{ id, type: 'user.tool_result', tool_use_id, content: [{ type: 'text', text: 'done' }] },
})
const allowed = (id: string, tool_use_id: string): NewEvent => ({
  ...{ id, type: 'user.tool_confirmation', tool_use_id, result: 'allow' },
})

/** The tellings of a whole log. `settled`: the number of the event that settled each call. */
function toldOf(log: readonly NewEvent[], settled: Readonly<Record<string, number>> = {}) {
  const events = log.map((event, index): LogEvent => ({ seq: index + 1, event }))
  const steps = foldSteps(events, (id) => {
    const event = log.find((each) => each.id === id)
    if (!event || !isCall(event)) return undefined
    const settledSeq = settled[id]
    return { event, ...(settledSeq !== undefined && { settledSeq }) }
  })
  return steps.flatMap(({ tellings }) => tellings)
}

const questionsOf = (...given: Parameters<typeof toldOf>) =>
  toldOf(...given).flatMap((each) =>
    each.kind === 'question' ? [`${each.call} ${each.needs}`] : [],
  )

describe('the questions of a session', () => {
  it('are about confirmations and answers, and not about calls that a worker runs', () => {
    const calls = [bash('a', 'allow', byWorker), bash('b', 'ask'), custom('c')]
    const log = [...calls, waits('i', 'a', 'b', 'c')]
    assert.deepEqual(questionsOf(log), ['b confirmation', 'c answer'])
    const buttons = toldOf(log).flatMap((each) => (each.kind === 'confirmation' ? each.call : []))
    assert.deepEqual(buttons, ['b'])
  })

  it('are none if only calls of a worker remain', () => {
    const told = toldOf([bash('a', 'allow', byWorker), waits('i', 'a')])
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ['action', 'files'],
    )
  })

  it('end when a call is allowed, also while its worker runs it', () => {
    const log = [
      ...[bash('a', 'ask', byWorker), waits('i', 'a')],
      ...[allowed('u', 'a'), waits('j', 'a')],
    ]
    assert.deepEqual(questionsOf(log, { a: 3 }), ['a confirmation'])
    assert.deepEqual(
      toldOf(log, { a: 3 }).flatMap(({ id, kind }) => (kind === 'question' ? id : [])),
      ['i.a'],
      'the question was open when the first turn ended, even if it is told afterwards',
    )
  })

  it('are not repeated after each result of a worker', () => {
    const calls = [bash('a', 'allow', byWorker), bash('b', 'allow', byWorker), bash('c', 'ask')]
    const ofWorker = [
      ...[...calls, waits('i', 'a', 'b', 'c')],
      ...[result('r', 'a'), waits('j', 'b', 'c')],
      ...[result('s', 'b'), waits('k', 'c')],
    ]
    assert.deepEqual(questionsOf(ofWorker), ['c confirmation'])
    const ofPerson = [
      ...[bash('a', 'ask'), bash('b', 'ask'), waits('i', 'a', 'b')],
      ...[allowed('u', 'a'), waits('j', 'b')],
    ]
    assert.deepEqual(
      questionsOf(ofPerson),
      ['a confirmation', 'b confirmation', 'b confirmation'],
      'people who answered one are told which is left',
    )
  })
})

describe('the result of a call', () => {
  it('is the same from a worker and from a sandbox', () => {
    const log = [bash('a', 'allow', byWorker), result('r', 'a')]
    const [, ended] = toldOf(log)
    const shown = { kind: 'action', name: 'bash', input: '{}' }
    assert.deepEqual(ended, { ...shown, id: 'r', call: 'a', result: 'done', isError: false })
    const events = log.map((event, seq): LogEvent => ({ seq, event }))
    assert.deepEqual(callsIn(events), ['a'])
  })
})
