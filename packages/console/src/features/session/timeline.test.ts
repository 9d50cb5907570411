import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import { entryOf, timelineOf } from './timeline.ts'

/** An event at a second of the session. */
function event(id: string, second: number, type: string, fields: object = {}): SessionEvent {
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  const shared = { session_id: 'sesn_1', created_at: at, processed_at: at, seq: second }
  return { id, type, ...shared, ...fields } as SessionEvent
}
const call = (id: string, second: number, name: string) =>
  event(id, second, 'agent.tool_use', { name, input: {} })
const result = (id: string, second: number, isError = false) =>
  event(`${id}r`, second, 'agent.tool_result', { tool_use_id: id, is_error: isError })
const idle = (second: number) =>
  event(`i${second}`, second, 'session.status_idle', { stop_reason: { type: 'end_turn' } })

const place = (share: number, markers = 0) => ({ share, markers })

void describe('the timeline of a session', () => {
  void it('shows work in shares of the work of its turn, and waits apart from it', () => {
    const [turn] = timelineOf([
      event('m', 0, 'user.message'),
      event('r', 0, 'session.status_running'),
      event('s', 0, 'span.model_request_start'),
      call('a', 4, 'bash'),
      event('e', 4, 'span.model_request_end', { model_request_start_id: 's', is_error: false }),
      idle(4),
      event('c', 54, 'user.tool_confirmation', { tool_use_id: 'a', result: 'allow' }),
      event('r2', 54, 'session.status_running'),
      result('a', 58, true),
      idle(58),
    ])
    assert.deepEqual([turn?.workMs, turn?.waitMs, turn?.wallMs], [8_000, 50_000, 58_000])
    assert.deepEqual(turn?.idle, [0.5])
    const seen = (field: 'name' | 'kind' | 'tookMs' | 'from' | 'to') =>
      turn?.entries.map((entry) => entry[field])
    assert.deepEqual(seen('name'), ['model', 'bash'])
    assert.deepEqual(seen('kind'), ['model', 'failed'])
    assert.deepEqual(seen('tookMs'), [4_000, 4_000])
    assert.deepEqual(seen('from'), [place(0), place(0.5, 1)])
    assert.deepEqual(seen('to'), [place(0.5), place(1, 1)])
    const bash = turn?.entries.at(-1)
    assert.ok(bash)
    assert.deepEqual([bash.waitedMs, bash.idleMs], [50_000, 50_000])
    assert.deepEqual(bash.events, ['a', 'c', 'ar'])
  })

  void it('shows what a machine was waited for as well, and keeps short pauses where they are', () => {
    const [turn] = timelineOf([
      event('m', 0, 'user.message'),
      event('r', 0, 'session.status_running'),
      event('s', 30, 'span.model_request_start'),
      event('e', 50, 'span.model_request_end', { model_request_start_id: 's', is_error: false }),
      call('a', 51, 'bash'),
      result('a', 71),
      idle(71),
    ])
    assert.deepEqual([turn?.workMs, turn?.waitMs, turn?.idle], [41_000, 30_000, [0]])
    assert.deepEqual(
      turn?.entries.map(({ name, idleMs, waitedMs }) => [name, idleMs, waitedMs]),
      [
        ['model', 30_000, undefined],
        ['bash', undefined, undefined],
      ],
    )
  })

  void it('names the entry of an event: its own, or that during which it came', () => {
    const periods = timelineOf([
      event('m', 0, 'user.message'),
      event('r', 1, 'session.status_running'),
      event('s', 2, 'span.model_request_start'),
      event('said', 3, 'agent.message'),
      event('e', 4, 'span.model_request_end', { model_request_start_id: 's', is_error: false }),
      call('a', 5, 'read'),
      result('a', 6),
      call('b', 6, 'read'),
      result('b', 7),
      idle(9),
    ])
    const named = (id: string, seq: number) => entryOf(periods, { id, seq })
    assert.deepEqual(
      [named('e', 4), named('said', 3), named('br', 7), named('m', 0)],
      ['s', 's', 'a', undefined],
    )
  })

  void it('folds calls of one tool that follow each other, and shows what still runs', () => {
    const [first, second] = timelineOf([
      event('m', 0, 'user.message'),
      event('r', 0, 'session.status_running'),
      call('a', 0, 'read'),
      result('a', 1),
      call('b', 1, 'read'),
      result('b', 2),
      idle(4),
      event('m2', 10, 'user.message'),
      event('r2', 10, 'session.status_running'),
      call('d', 11, 'bash'),
      event('x', 12, 'session.warning', { message: '' }),
    ])
    assert.deepEqual(
      first?.entries.map(({ name, to, tookMs }) => [name, to, tookMs]),
      [['read × 2', place(1), 2_000]],
    )
    assert.deepEqual(
      second?.entries.map(({ kind, from, to, tookMs }) => [kind, from, to, tookMs]),
      [['running', place(0, 1), place(1, 1), undefined]],
    )
    assert.equal(second?.number, 2)
  })

  void it('puts what a child thread does into a lane of its own, named for its agent', () => {
    const of = { session_thread_id: 't' }
    const [turn] = timelineOf([
      event('m', 0, 'user.message'),
      event('r', 0, 'session.status_running'),
      event('n', 1, 'session.thread_created', { ...of, agent_name: 'tester' }),
      event('c', 2, 'agent.tool_use', { name: 'bash', input: {}, ...of }),
      event('d', 4, 'agent.tool_result', { tool_use_id: 'c', content: [], ...of }),
      call('a', 5, 'read'),
      result('a', 6),
      idle(8),
    ])
    assert.deepEqual(
      turn?.entries.map(({ name }) => name),
      ['read'],
    )
    assert.deepEqual(
      turn?.lanes.map(({ name, from, to, tookMs }) => [name, from, to, tookMs]),
      [['tester', place(0, 1), place(2 / 3, 1), 2_000]],
    )
  })

  void it('shows a call that an interrupt ended before anybody decided as a wait, and an answer that failed as failed', () => {
    const [turn] = timelineOf([
      event('m', 0, 'user.message'),
      event('r', 0, 'session.status_running'),
      call('a', 2, 'bash'),
      event('b', 2, 'agent.custom_tool_use', { name: 'ask_user', input: {} }),
      idle(2),
      event('br', 12, 'user.custom_tool_result', { custom_tool_use_id: 'b', is_error: true }),
      result('a', 22, true),
    ])
    assert.deepEqual(
      turn?.entries.map(({ kind, waitedMs, tookMs }) => [kind, waitedMs, tookMs]),
      [
        ['tool', 20_000, 0],
        ['failed', 10_000, 0],
      ],
    )
  })

  void it('has nothing before the first message', () => {
    assert.deepEqual(timelineOf([event('r', 0, 'session.status_running')]), [])
  })
})
