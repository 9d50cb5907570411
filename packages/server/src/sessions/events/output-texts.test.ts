import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TailItem } from '../log/tail.ts'
import type { CommandOutput } from '../log/topics.ts'
import { createPresenter } from './wire.ts'

const dialect = 'interface'

/** The piece that brings the bytes from `from` on, with the last four before. */
function piece(output: string, from: number, call = 'call'): CommandOutput {
  const offset = Math.max(0, from - 4)
  const text = output.slice(offset)
  const sizes = { offset, newIndex: from - offset, newOffset: from, end: output.length }
  return { call, text, ...sizes, total: output.length, quietMs: 7 }
}

function reader(view: { chunks: boolean; deltas: string[] }) {
  const present = createPresenter('sesn_1', { ...view, dialect })
  return (...said: TailItem[]): Record<string, unknown>[] =>
    said.flatMap((each) =>
      present(each)
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>),
    )
}

const told = (output: CommandOutput): TailItem => ({ kind: 'output', output })
const withChunks = () => reader({ chunks: true, deltas: [] })
const shown = (events: Record<string, unknown>[]) =>
  events.map(({ delta, offset, end_offset }) => [delta, offset, end_offset])
const resultOf = (call: string): TailItem => ({
  kind: 'kept',
  row: {
    ...{ seq: 9, id: 'result', type: 'agent.tool_result', created_at: 't', processed_at: 't' },
    data: JSON.stringify({
      content: [{ type: 'text', text: '"tool_use_id":"another"' }],
      tool_use_id: call,
    }),
  },
})

void describe('the output of a running command', () => {
  void it('is shown with its call, offsets and silence to a reader that asked for chunks', () => {
    assert.deepEqual(withChunks()(told(piece('one\n', 0))), [
      {
        type: 'agent.tool_use_output_chunk',
        ...{ session_id: 'sesn_1', tool_use_id: 'call', delta: 'one\n' },
        ...{ offset: 0, end_offset: 4, total_bytes: 4, quiet_ms: 7 },
      },
    ])
    const thread = { ...piece('one\n', 0), thread: 'sthr_1' }
    assert.equal(withChunks()(told(thread))[0]?.['session_thread_id'], 'sthr_1')
  })

  void it('is shown to no other reader', () => {
    for (const deltas of [[], ['agent.message', 'agent.thinking']])
      assert.deepEqual(reader({ chunks: false, deltas })(told(piece('one\n', 0))), [])
  })

  void it('comes piece by piece to a reader that has them all', () => {
    const seen = withChunks()(
      ...[told(piece('one\n', 0)), told(piece('one\ntwo\n', 4))],
      told(piece('one\ntwo\n', 8)),
    )
    assert.deepEqual(shown(seen), [
      ['one\n', 0, 4],
      ['two\n', 4, 8],
      ['', 8, 8],
    ])
  })

  void it('comes with its end to a reader that lacks the piece before', () => {
    const late = withChunks()
    assert.deepEqual(shown(late(told(piece('one\ntwo\n', 8)))), [['two\n', 4, 8]])
    const all = 'one\ntwo\nthree\nfour\n'
    assert.deepEqual(shown(late(told(piece(all, 14)))), [['ree\nfour\n', 10, 19]])
    assert.deepEqual(shown(late(told(piece(`${all}five\n`, 19)))), [['five\n', 19, 24]])
  })

  void it('is shown no more behind the result of its call', () => {
    const read = withChunks()
    read(told(piece('one\n', 0)), resultOf('call'))
    assert.deepEqual(read(told(piece('one\ntwo\n', 4))), [])
    assert.equal(read(told(piece('one\n', 0, 'another'))).length, 1)
  })
})
