import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../fixture.ts'
import { followOutput } from './follow.ts'
import type { OutputEnd, OutputPiece } from './piece.ts'

const pace = { firstMs: 1, pauseMs: 1, silenceMs: 40 }

/** A command whose output the test writes. */
function command() {
  const state = { text: '', quietMs: 0, reads: 0, isOver: false, isWanted: true }
  const pieces: OutputPiece[] = []
  const asked: number[] = []
  const stop = followOutput(
    {
      isWanted: () => state.isWanted,
      tell: (piece) => void pieces.push(piece),
    },
    async ({ known }): Promise<OutputEnd | undefined> => {
      state.reads++
      asked.push(known)
      if (state.isOver) return undefined
      const total = state.text.length
      const bytes = Buffer.from(known === total ? '' : state.text)
      return { bytes, total, quietMs: state.quietMs }
    },
    undefined,
    pace,
  )
  const told = () => pieces.map(({ text, newIndex }) => text.slice(newIndex)).join('')
  return { state, pieces, asked, stop, told }
}

void describe('the listening to a running command', () => {
  void it('reports new output once, and the silence again and again', async () => {
    const { state, pieces, stop, told } = command()
    state.text = 'one\n'
    await until('one is told', () => told() === 'one\n')
    state.text += 'two\n'
    await until('two is told', () => told() === 'one\ntwo\n')
    const count = pieces.length
    state.quietMs = 77
    await until('the silence is told twice', () => pieces.length >= count + 2)
    stop()
    assert.equal(told(), 'one\ntwo\n')
    assert.deepEqual([pieces.at(-1)?.text, pieces.at(-1)?.quietMs], ['one\ntwo\n', 77])
  })

  void it('reads nothing while nobody wishes it, and begins anew for whoever does later', async () => {
    const { state, pieces, stop } = command()
    state.isWanted = false
    state.text = 'one\n'
    let looks = 0
    await until('it has looked for listeners', () => looks++ > 20)
    assert.equal(state.reads, 0)
    state.isWanted = true
    await until('one is told', () => pieces.length > 0)
    state.isWanted = false
    const { reads } = state
    looks = 0
    await until('it has looked again', () => looks++ > 20)
    assert.ok(state.reads <= reads + 1)
    state.isWanted = true
    const count = pieces.length
    await until('it is told again', () => pieces.length > count)
    stop()
    assert.deepEqual([pieces.at(-1)?.text, pieces.at(count)?.newOffset], ['one\n', 0])
  })

  void it('goes on when the command has not begun at its first look', async () => {
    const { state, told, stop } = command()
    state.isOver = true
    await until('it has looked', () => state.reads > 2)
    state.isOver = false
    state.text = 'one\n'
    await until('one is told', () => told() === 'one\n')
    stop()
  })

  void it('ends with the command, and says nothing behind its end', async () => {
    const { state, pieces, asked, stop } = command()
    await until('it has read', () => state.reads > 2)
    stop()
    const { reads } = state
    let looks = 0
    await until('time has gone by', () => looks++ > 20)
    assert.ok(state.reads <= reads + 1)
    assert.ok(asked.every((known) => known === 0))
    const other = command()
    await until('it has begun', () => other.pieces.length > 0)
    other.stop()
    other.state.text = 'late'
    looks = 0
    await until('time has gone by', () => looks++ > 20)
    assert.equal(other.told(), '')
    assert.ok(pieces.length > 0)
  })
})
