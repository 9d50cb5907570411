import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import { openCallsOf, talkOf } from './conversation.ts'

let count = 0
/** An event of the log, a second after the one before. */
function event(type: string, fields: object = {}): SessionEvent {
  count++
  const at = new Date(Date.UTC(2026, 0, 1, 0, 0, count)).toISOString()
  const shared = { session_id: 'sesn_1', created_at: at, processed_at: at, seq: count }
  return { id: `sevt_${count}`, type, ...shared, ...fields } as SessionEvent
}

const text = (words: string) => ({ content: [{ type: 'text', text: words }] })
const use = (name: string) => event('agent.tool_use', { name, input: { command: 'ls' } })
const asksFor = (...ids: string[]) =>
  event('session.status_idle', { stop_reason: { type: 'requires_action', event_ids: ids } })

void describe('the talk of a session', () => {
  void it('puts calls that follow each other together, each with its result and its time', () => {
    const begun = [event('user.message', text('hello')), event('span.model_request_start')]
    const [first, second] = [use('bash'), use('read')]
    const items = talkOf([
      ...begun,
      first,
      second,
      event('agent.tool_result', { tool_use_id: first.id, ...text('done'), is_error: true }),
      event('agent.message', text('well')),
    ])
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['said', 'tools', 'said'],
    )
    const [, tools] = items
    assert.ok(tools?.kind === 'tools')
    const [bash, read] = tools.calls
    assert.deepEqual([bash?.result?.text, bash?.result?.isError], ['done', true])
    assert.equal(bash?.result?.tookMs, 2_000)
    assert.equal(read?.result, undefined)
  })

  void it('asks for what the service says it waits for, until it is answered or the session has ended', () => {
    const call = use('bash')
    const asking = [call, asksFor(call.id)]
    const isAsking = (events: SessionEvent[]) => {
      const [tools] = talkOf(events)
      return tools?.kind === 'tools' && tools.calls[0]?.isAsking
    }
    assert.equal(isAsking([call]), false)
    assert.equal(isAsking(asking), true)
    const allowed = event('user.tool_confirmation', { tool_use_id: call.id, result: 'allow' })
    assert.equal(isAsking([...asking, allowed]), false)
    const retired = event('agent.tool_result', {
      tool_use_id: call.id,
      is_error: true,
      ...text(''),
    })
    assert.equal(isAsking([...asking, retired]), false)
    assert.deepEqual([...openCallsOf(asking)], [call.id])
    assert.equal(openCallsOf([...asking, event('session.status_terminated')]).size, 0)
  })

  void it('goes on asking for one thread while another works', () => {
    const [first, second] = [use('bash'), use('bash')]
    const rests = (id: string) =>
      event('session.thread_status_idle', {
        session_thread_id: `thread of ${id}`,
        stop_reason: { type: 'requires_action', event_ids: [id] },
      })
    const events = [
      ...[first, second, rests(first.id), rests(second.id)],
      event('user.tool_confirmation', { tool_use_id: first.id, result: 'allow' }),
      event('session.status_running'),
    ]
    assert.deepEqual([...openCallsOf(events)], [second.id])
  })

  void it('leaves out kinds that it does not know, and goes on', () => {
    const items = talkOf([
      event('session.of_next_year'),
      event('agent.message', text('still here')),
    ])
    assert.equal(items.length, 1)
  })
})
