import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionEvent } from '../../lib/api/types.ts'
import type { CallOutput, OutputChunk } from './live-outputs.ts'
import { liveOutputs, withPiece } from './live-outputs.ts'

const piece = (delta: string, offset: number, end_offset = offset + delta.length): OutputChunk => ({
  type: 'agent.tool_use_output_chunk',
  session_id: 'sesn_1',
  tool_use_id: 'call',
  delta,
  offset,
  end_offset,
  total_bytes: end_offset,
  quiet_ms: 400,
})

const heard = (...pieces: OutputChunk[]): CallOutput | undefined =>
  pieces.reduce<CallOutput | undefined>((all, each) => withPiece(all, each, 1_000), undefined)

void describe('the live output of a command', () => {
  void it('joins the pieces that follow each other', () => {
    const output = heard(piece('one\n', 0), piece('two\n', 4), piece('', 8))
    assert.deepEqual(output, { text: 'one\ntwo\n', end: 8, lastByteAt: 600 })
  })

  void it('says how much is omitted', () => {
    const output = heard(piece('one', 0), piece('last\n', 5_003))
    assert.equal(output?.text, 'one\n… 4.88 KiB not shown …\nlast\n')
    assert.match(heard(piece('last\n', 5_000))?.text ?? '', /^… .* not shown …\nlast\n$/)
  })

  void it('takes only the new bytes of a piece that a stream repeats', () => {
    const output = heard(piece('größe\n', 0, 8), piece('öße\ntwo\n', 2, 12))
    assert.deepEqual([output?.text, output?.end], ['größe\ntwo\n', 12])
    const silent = heard(piece('one\ntwo\n', 0), { ...piece('two\n', 4), quiet_ms: 900 })
    assert.deepEqual(silent, { text: 'one\ntwo\n', end: 8, lastByteAt: 100 })
  })

  void it('is replaced by a repeated piece whose text is shorter than its bytes, or that ends before', () => {
    const coloured = heard(piece('one\ntwo\n', 0), piece('two\nthree\n', 4, 23))
    assert.match(coloured?.text ?? '', /^… .* …\ntwo\nthree\n$/)
    assert.equal(coloured?.end, 23)
    const anew = heard(piece('one\ntwo\n', 0), piece('one\n', 0))
    assert.deepEqual([anew?.text, anew?.end], ['one\n', 4])
  })

  void it('keeps the end of a long output, from the beginning of a line', () => {
    let output: CallOutput | undefined
    for (let n = 0, at = 0; n < 50_000; n++) {
      const next = piece(`line ${n}\n`, at)
      output = withPiece(output, next, 0)
      at = next.end_offset
    }
    assert.ok(output && output.text.length <= 16_000)
    assert.match(output.text, /^line \d+\n[^]*line 49999\n$/)
    const one = heard(piece('x'.repeat(4_000_000), 0))
    assert.ok(one)
    assert.ok(withPiece(one, piece('y', one.end), 0).text.length <= 16_000)
  })

  void it('goes with the result of its call, behind which no piece counts, and with the turn', () => {
    const outputs = liveOutputs()
    const shown = () => {
      outputs.show()
      return [...outputs.store.get().keys()]
    }
    outputs.hear(piece('one', 0))
    outputs.hear({ ...piece('other', 0), tool_use_id: 'another' })
    outputs.settle({ type: 'agent.tool_result', tool_use_id: 'call' } as SessionEvent)
    assert.deepEqual(shown(), ['another'])
    outputs.hear(piece('two', 3))
    assert.deepEqual(shown(), ['another'])
    outputs.end({ type: 'session.status_idle' } as SessionEvent)
    assert.deepEqual(shown(), [])
  })
})
