import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import { openCallsOf, talkOf } from './conversation.ts'
import { pieceOf, runsOf } from './pieces.ts'

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

  void it('counts what the approval of a call was waited for as no time of the call', () => {
    const call = use('bash')
    const [tools] = talkOf([
      ...[call, asksFor(call.id)],
      event('user.tool_confirmation', { tool_use_id: call.id, result: 'allow' }),
      event('agent.tool_result', { tool_use_id: call.id, ...text('done') }),
    ])
    assert.ok(tools?.kind === 'tools')
    assert.equal(tools.calls[0]?.result?.tookMs, 1_000)
    assert.equal(tools.calls[0].from - Date.parse(call.created_at), 2_000)
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

  void it('shows kinds that it does not know as rows, and goes on', () => {
    const items = talkOf([
      event('session.of_next_year', text('a greeting')),
      event('span.model_request_start'),
      event('agent.message', text('still here')),
    ])
    assert.deepEqual(
      items.map((item) => (item.kind === 'other' ? [item.type, item.text] : item.kind)),
      [['session.of_next_year', 'a greeting'], 'said'],
    )
  })

  void it('says what an interrupt has taken back, and what it has stopped', () => {
    const [asked, plain] = [use('bash'), use('read')]
    const closes = ({ id }: SessionEvent) =>
      event('agent.tool_result', { tool_use_id: id, is_error: true, ...text('interrupted') })
    const [tools] = talkOf([
      ...[asked, plain, asksFor(asked.id), closes(asked), event('user.interrupt')],
      closes(plain),
    ])
    assert.ok(tools?.kind === 'tools')
    assert.deepEqual(
      tools.calls.map(({ wasAsked, isInterrupted, isAsking }) => [
        wasAsked,
        isInterrupted,
        isAsking,
      ]),
      [
        [true, true, false],
        [false, true, false],
      ],
    )
  })

  void it('distinguishes a failure that goes on from one that ends the turn, and from one that ends the session', () => {
    const fails = (type: string) =>
      event('session.error', { error: { message: type, retry_status: { type } } })
    const items = talkOf([fails('retrying'), fails('exhausted'), fails('terminal')])
    assert.deepEqual(
      items.map((item) => item.kind === 'failed' && item.ends),
      [undefined, 'turn', 'session'],
    )
  })

  void it('says what a compaction removed, kept and put instead', () => {
    const begun = event('span.compaction_summarize_start', { strategy: 'x', reason: 'overflow' })
    const model_usage = { input_tokens: 900, output_tokens: 40 }
    const done = {
      ...{ strategy: 'isolated-basic', summary: 'in short' },
      messages: { replaced: 8, kept: 2 },
      tokens: { before: 900, after: 120 },
    }
    const [item] = talkOf([
      begun,
      event('span.compaction_summarize_end', { is_error: false, model_usage }),
      event('agent.thread_context_compacted', done),
    ])
    assert.ok(item?.kind === 'compacted')
    assert.deepEqual(item.compaction, { ...done, reason: 'overflow', read: 900, written: 40 })
  })

  void it('folds three calls of one tool and more, where all have ended', () => {
    const reads = [use('read'), use('read'), use('read')]
    const ended = reads.map(({ id }) =>
      event('agent.tool_result', { tool_use_id: id, ...text('') }),
    )
    const runs = (events: SessionEvent[]) => {
      const [tools] = talkOf(events)
      assert.ok(tools?.kind === 'tools')
      return runsOf(tools.calls).map(({ calls, isFolded }) => [calls.length, isFolded])
    }
    assert.deepEqual(runs([...reads, ...ended]), [[3, true]])
    assert.deepEqual(runs([...reads, ...ended.slice(1)]), [
      [1, false],
      [1, false],
      [1, false],
    ])
  })

  void it('names the piece that shows an event: its own, that of its call, or the next one', () => {
    const [begun, call] = [event('span.model_request_start'), use('bash')]
    const result = event('agent.tool_result', { tool_use_id: call.id, ...text('') })
    const [said, rests] = [event('agent.message', text('done')), event('session.usage')]
    const events = [begun, call, result, said, rests]
    const items = talkOf(events)
    assert.deepEqual(
      [begun, call, result, said, rests].map(({ id }) => pieceOf(items, events, id)),
      [call.id, call.id, call.id, said.id, said.id],
    )
    assert.equal(pieceOf(items, events, 'sevt_elsewhere'), undefined)
  })
})
