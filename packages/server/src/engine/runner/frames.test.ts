import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import type { LiveFrame } from '@steward/harness/turn.ts'
import { frameSender } from './frames.ts'

const chunk = (delta: string): LiveFrame => ({ kind: 'chunk', of: 'agent.message', id: 'a', delta })

/** The frames sent for a piece every 20 ms while this number of turns runs. */
function sent(turns: number): string[] {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const texts: string[] = []
    const sender = frameSender(
      (frames) => texts.push(frames.map((frame) => ('delta' in frame ? frame.delta : '')).join()),
      () => turns,
    )
    for (const piece of 'abcdefg') {
      sender.push(chunk(piece))
      mock.timers.tick(20)
    }
    sender.flush()
    return texts
  } finally {
    mock.timers.reset()
  }
}

describe('pieces of an answer', () => {
  it('go out as they come while few turns run', () => {
    assert.deepEqual(sent(1), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  it('are joined for longer while hundreds of turns run, the first still at once', () => {
    assert.deepEqual(sent(200), ['a', 'bc', 'def', 'g'])
    assert.deepEqual(sent(100_000), ['a', 'bc', 'def', 'g'])
  })
})
