import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import { timelineOf } from './timeline.ts'

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
    assert.deepEqual([turn?.workMs, turn?.waitMs], [8_000, 50_000])
    assert.deepEqual(turn?.entries, [
      {
        id: 's',
        name: 'model',
        kind: 'model',
        from: 0,
        to: 0.5,
        tookMs: 4_000,
        waitedMs: undefined,
        thread: undefined,
      },
      {
        id: 'a',
        name: 'bash',
        kind: 'failed',
        from: 0.5,
        to: 1,
        tookMs: 4_000,
        waitedMs: 50_000,
        thread: undefined,
      },
    ])
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
      [['read × 2', 0.5, 2_000]],
    )
    assert.deepEqual(
      second?.entries.map(({ kind, from, to, tookMs }) => [kind, from, to, tookMs]),
      [['running', 0.5, 1, undefined]],
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
      [['tester', 0.25, 0.5, 2_000]],
    )
  })

  void it('has nothing before the first message', () => {
    assert.deepEqual(timelineOf([event('r', 0, 'session.status_running')]), [])
  })
})
