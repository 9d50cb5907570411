import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CommandOutputReport } from '@steward/protocol/command-output.ts'
import { CommandOutputReport as Report } from '@steward/protocol/command-output.ts'
import { joinPieces, outputReporter } from './command-output.ts'

/** The piece that brings the bytes from `from` on, with at most `before` bytes before them. */
function piece(output: string, from: number, before = 100) {
  const offset = Math.max(0, from - before)
  const sizes = { offset, newIndex: from - offset, newOffset: from, end: output.length }
  return { text: output.slice(offset), ...sizes, total: output.length, quietMs: 3 }
}

/** A service whose answers the test gives, and a clock that it sets. */
function reporter() {
  const reports: CommandOutputReport[] = []
  const answers: ((isWanted: boolean | undefined) => void)[] = []
  const clock = { now: 0 }
  const listener = outputReporter(
    'call',
    (report) => {
      reports.push(Report.parse(report))
      return new Promise((resolve) => answers.push(resolve))
    },
    () => clock.now,
  )
  const answer = async (isWanted: boolean | undefined) => {
    answers.shift()?.(isWanted)
    await Promise.resolve()
    await Promise.resolve()
  }
  return { reports, clock, listener, answer }
}

void describe('a worker that reports the output of a command', () => {
  void it('asks nothing for a short command, and then every two seconds whether anybody listens', async () => {
    const { reports, clock, listener, answer } = reporter()
    assert.equal(listener.isWanted(), false)
    assert.equal(reports.length, 0)
    clock.now = 500
    assert.equal(listener.isWanted(), false)
    assert.deepEqual(reports, [{ tool_use_id: 'call' }])
    await answer(false)
    clock.now = 2_400
    assert.equal(listener.isWanted(), false)
    assert.equal(reports.length, 1)
    clock.now = 2_500
    assert.equal(listener.isWanted(), false)
    assert.equal(reports.length, 2)
    await answer(true)
    assert.equal(listener.isWanted(), true)
  })

  void it('has one request open, and joins what comes meanwhile', async () => {
    const { reports, clock, listener, answer } = reporter()
    clock.now = 500
    listener.isWanted()
    await answer(true)
    listener.tell(piece('one\n', 0))
    listener.tell(piece('one\ntwo\n', 4))
    listener.tell(piece('one\ntwo\nthree\n', 8))
    assert.equal(reports.length, 2)
    await answer(true)
    const told = reports[2]?.output
    assert.equal(told?.text.slice(told.new_index), 'two\nthree\n')
    assert.deepEqual([told?.new_offset, told?.end_offset], [4, 14])
    await answer(false)
    assert.equal(listener.isWanted(), false)
  })

  void it('goes on without a service that cannot be reached', async () => {
    const { reports, clock, listener, answer } = reporter()
    clock.now = 500
    listener.isWanted()
    await answer(undefined)
    assert.equal(listener.isWanted(), false)
    clock.now = 2_500
    listener.isWanted()
    assert.equal(reports.length, 2)
  })

  void it('joins no pieces that do not follow each other, or are too long together', () => {
    const gap = joinPieces(piece('one\n', 0), piece('one\ntwo\nthree\n', 8, 4))
    assert.deepEqual([gap.newIndex, gap.newOffset], [0, 4])
    const long = joinPieces(piece('one\ntwo\n', 0), piece('one\ntwo\nthree\n', 8, 4))
    assert.deepEqual([long.newIndex, long.newOffset], [0, 4])
    // Codes that were removed have bytes and no text.
    const coded = { ...piece('one\ntwo\n', 4, 4), offset: 2, newOffset: 4 }
    const codes = joinPieces({ ...piece('one\n', 0), newOffset: 1 }, coded)
    assert.deepEqual([codes.newIndex, codes.newOffset], [0, 2])
  })
})
