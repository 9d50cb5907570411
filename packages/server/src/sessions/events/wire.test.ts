import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LiveFrame, StreamedType } from '@steward/harness/turn.ts'
import type { TailItem } from '../log/tail.ts'
import type { StreamView } from './wire.ts'
import { createPresenter, readStreamView } from './wire.ts'

type ShownText = { id?: string; type: string } & Record<string, unknown>

const dialect = 'interface'
const plain: StreamView = { chunks: false, deltas: [], dialect }
const chunks: StreamView = { chunks: true, deltas: [], dialect }
const deltas: StreamView = { chunks: false, deltas: ['agent.message', 'agent.thinking'], dialect }

/** The messages of one reader. Each must be a well-formed frame. */
function reader(view: StreamView) {
  const present = createPresenter('sesn_1', view)
  return (...said: TailItem[]): ShownText[] =>
    said.flatMap((each) => {
      const text = present(each)
      if (text === '') return []
      return text
        .slice(0, -2)
        .split('\n\n')
        .map((message) => {
          const [event, ...rest] = message.split('\n')
          assert.equal(event, 'event: message')
          const data = rest.at(-1) ?? ''
          assert.ok(data.startsWith('data: '))
          const shown = JSON.parse(data.slice(6)) as ShownText
          const id = rest.length > 1 ? rest[0] : undefined
          assert.equal(id, typeof shown['seq'] === 'number' ? `id: ${shown['seq']}` : undefined)
          return shown
        })
    })
}

const kept = (id: string, type = 'agent.message', seq = 1): TailItem => ({
  kind: 'kept',
  row: { seq, id, type, created_at: 't', processed_at: 't', data: '{"content":[]}' },
})
const framed = (frame: LiveFrame): TailItem => ({ kind: 'frame', frame })
const start = (id: string, of: StreamedType = 'agent.message', name?: string) =>
  framed({ kind: 'start', of, id, ...(name === undefined ? {} : { name }) })
const chunk = (id: string, delta: string, of: StreamedType = 'agent.message') =>
  framed({ kind: 'chunk', of, id, delta })
const end = (id: string, of: StreamedType = 'agent.message') => framed({ kind: 'end', of, id })
const types = (shown: ShownText[]) => shown.map(({ type }) => type)

describe('a stream’s view', () => {
  it('opens each family by its own option', () => {
    assert.deepEqual(readStreamView({}, dialect), plain)
    assert.deepEqual(readStreamView({ include: ['chunks', 'other'] }, dialect), chunks)
    assert.deepEqual(readStreamView({ event_deltas: ['agent.message'] }, dialect).deltas, [
      'agent.message',
    ])
  })

  it('shows the fields of an event once in the dialect of the client', () => {
    const client = reader({ ...plain, dialect: 'client' })
    const [shown] = client(kept('sevt_1'))
    assert.deepEqual(shown, {
      ...{ id: 'sevt_1', type: 'agent.message', session_id: 'sesn_1', seq: 1 },
      ...{ created_at: 't', processed_at: 't', content: [] },
    })
  })

  it('shows kept events with their fields twice, and their seq as id', () => {
    const [shown] = reader(plain)(kept('sevt_1', 'agent.message', 7))
    assert.deepEqual(shown, {
      id: 'sevt_1',
      type: 'agent.message',
      session_id: 'sesn_1',
      seq: 7,
      created_at: 't',
      processed_at: 't',
      content: [],
      data: { content: [] },
    })
  })

  it('shows nothing of a stream to a reader who asked for no family', () => {
    const read = reader(plain)
    const said = [start('a'), chunk('a', 'x'), end('a'), start('b', 'agent.thinking')]
    assert.deepEqual(read(...said, framed({ kind: 'first_token', id: 'r', ms: 5 })), [])
  })

  it('shows chunks of all three kinds under the id of their event', () => {
    const read = reader(chunks)
    assert.deepEqual(read(start('a'), chunk('a', 'x'), end('a')), [
      { type: 'agent.message_stream_start', session_id: 'sesn_1', message_id: 'a' },
      { type: 'agent.message_chunk', session_id: 'sesn_1', message_id: 'a', delta: 'x' },
      { type: 'agent.message_stream_end', session_id: 'sesn_1', message_id: 'a' },
    ])
    const [thinking] = read(start('b', 'agent.thinking'))
    assert.deepEqual(thinking, {
      type: 'agent.thinking_stream_start',
      session_id: 'sesn_1',
      thinking_id: 'b',
    })
    const [input] = read(start('c', 'agent.tool_use_input', 'bash'))
    assert.deepEqual(input, {
      type: 'agent.tool_use_input_stream_start',
      session_id: 'sesn_1',
      tool_use_id: 'c',
      name: 'bash',
    })
    assert.deepEqual(read(framed({ kind: 'first_token', id: 'r', ms: 5 })), [
      {
        type: 'span.model_first_token',
        model_request_start_id: 'r',
        ms: 5,
        session_id: 'sesn_1',
      },
    ])
  })

  it('shows deltas of messages, and of thinking its start alone', () => {
    const read = reader(deltas)
    assert.deepEqual(read(start('a'), chunk('a', 'x'), chunk('a', 'y'), end('a')), [
      { type: 'event_start', event: { type: 'agent.message', id: 'a' } },
      delta('a', 'x'),
      delta('a', 'y'),
    ])
    const thinking = [start('b', 'agent.thinking'), chunk('b', 'z', 'agent.thinking')]
    assert.deepEqual(types(read(...thinking, end('b', 'agent.thinking'))), ['event_start'])
    assert.deepEqual(read(start('c', 'agent.tool_use_input', 'bash')), [])
  })

  it('keeps the two families apart, and shows both to a reader who asked for both', () => {
    const said = [start('a'), chunk('a', 'x'), end('a')]
    assert.ok(types(reader(deltas)(...said)).every((type) => type.startsWith('event_')))
    assert.ok(types(reader(chunks)(...said)).every((type) => type.startsWith('agent.message_')))
    const only: StreamView = { ...plain, deltas: ['agent.thinking'] }
    assert.deepEqual(reader(only)(...said), [])
    const both = reader({ ...chunks, deltas: ['agent.message'] })(...said)
    assert.deepEqual(types(both).toSorted(), [
      'agent.message_chunk',
      'agent.message_stream_end',
      'agent.message_stream_start',
      'event_delta',
      'event_start',
    ])
  })

  it('gives no piece of a block to a reader who joined in its middle, and the next block whole', () => {
    for (const view of [chunks, deltas]) {
      const read = reader(view)
      assert.deepEqual(read(chunk('a', 'late'), end('a')), [])
      assert.ok(types(read(kept('a'))).includes('agent.message'))
      assert.ok(read(start('b'), chunk('b', 'x')).length === 2)
    }
  })

  it('ends a block before its whole, and shows nothing of it afterwards', () => {
    const read = reader(chunks)
    read(start('a'), chunk('a', 'x'))
    assert.deepEqual(types(read(kept('a'))), ['agent.message_stream_end', 'agent.message'])
    assert.deepEqual(read(chunk('a', 'y'), end('a')), [])
    assert.deepEqual(types(read(kept('b'))), ['agent.message'])
    for (const view of [chunks, deltas]) {
      const late = reader(view)
      late(kept('c'))
      assert.deepEqual(late(start('c'), chunk('c', 'x'), end('c')), [])
      assert.equal(late(start('d'), chunk('d', 'x')).length, 2)
    }
  })

  it('shows a queued message to all, and its way through the queue to those with chunks', () => {
    const event = {
      ...{ id: 'sevt_m', type: 'user.message', session_id: 'sesn_1', seq: null },
      ...{ created_at: 't', processed_at: null, content: [], data: { content: [] } },
    }
    const { session_id: _session, content: _content, ...row } = event
    const queued: TailItem = { kind: 'queued', event: { ...row, data: '{"content":[]}' } }
    const promoted: TailItem = { kind: 'promoted', id: 'sevt_m' }
    assert.deepEqual(reader(plain)(queued, promoted), [event])
    assert.deepEqual(reader(chunks)(queued, promoted), [
      event,
      { type: 'system.user_message_pending', message_id: 'sevt_m', session_id: 'sesn_1' },
      { type: 'system.user_message_promoted', message_id: 'sevt_m', session_id: 'sesn_1' },
    ])
  })
})

function delta(event_id: string, text: string) {
  const content = { type: 'text', text }
  return { type: 'event_delta', event_id, delta: { type: 'content_delta', index: 0, content } }
}
