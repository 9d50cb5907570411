import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unitOn } from '../../ground/bus/fixture.ts'
import { memoryBus } from '../../ground/bus/memory.ts'
import type { LiveWords } from './topics.ts'
import {
  announceChange,
  announceRowChange,
  isOutputWanted,
  listenToChanges,
  listenToLiveWords,
  listenToOutput,
  listenToSession,
  sendFrames,
  sendOutput,
} from './topics.ts'

describe('a change of a session', () => {
  it('is heard by readers of its log only when the log has more events', () => {
    const bus = memoryBus()
    const heard: string[] = []
    listenToChanges(bus, (change) => 'session' in change && heard.push(`row of ${change.session}`))
    listenToSession(bus, 'sesn_1', ({ kind }) => heard.push(kind))
    announceRowChange(unitOn(bus), 'tenant', 'sesn_1')
    assert.deepEqual(heard, ['row of sesn_1'])
    announceChange(unitOn(bus), 'tenant', 'sesn_1')
    assert.deepEqual(heard.toSorted(), ['new_events', 'row of sesn_1', 'row of sesn_1'])
  })
})

describe('a reader of live words', () => {
  it('takes an unreadable message for lost words, and goes on', () => {
    const bus = memoryBus()
    const heard: (LiveWords | { kind: 'missed' })[] = []
    const quiet = listenToLiveWords(bus, 'sesn_1', (words) => heard.push(words))
    const frame = { kind: 'chunk', of: 'agent.message', id: 'one', delta: 'text' } as const
    const foreign = [
      ...[{}, { kind: 'new_words' }, { kind: 'frames' }, { kind: 'frames', frames: [null] }],
      { kind: 'frames', frames: [{ ...frame, delta: 1 }] },
      { kind: 'frames', frames: [frame, { ...frame, kind: 'later' }] },
      ...[
        { kind: 'queued', events: [{}] },
        { kind: 'promoted', ids: [1] },
      ],
    ]
    for (const message of foreign) bus.live.publish('session:sesn_1', message)
    assert.deepEqual(
      heard,
      foreign.map(() => ({ kind: 'missed' })),
    )
    heard.length = 0
    const words = [{ kind: 'frames' as const, frames: [frame] }]
    for (const { frames } of words) sendFrames(bus, 'sesn_1', frames)
    const carried = JSON.parse(JSON.stringify(words[0])) as { [key: string]: unknown }
    bus.live.publish('session:sesn_1', carried)
    assert.deepEqual(heard, [...words, ...words])
    quiet()
  })
})

describe('the output of commands', () => {
  const output = {
    ...{ call: 'call', text: 'one', offset: 0, newIndex: 0, newOffset: 0 },
    ...{ end: 3, total: 3, quietMs: 1 },
  }

  it('is wanted while a reader listens to it, and not for readers of other words', () => {
    const bus = memoryBus()
    listenToLiveWords(bus, 'sesn_1', () => {})
    assert.equal(isOutputWanted(bus, 'sesn_1'), false)
    const quiet = listenToOutput(bus, 'sesn_1', () => {})
    assert.equal(isOutputWanted(bus, 'sesn_1'), true)
    assert.equal(isOutputWanted(bus, 'sesn_2'), false)
    quiet()
    assert.equal(isOutputWanted(bus, 'sesn_1'), false)
  })

  it('is heard by its readers alone, and unreadable pieces are omitted', () => {
    const bus = memoryBus()
    const heard: unknown[] = []
    listenToLiveWords(bus, 'sesn_1', () => assert.fail('words of another kind'))
    listenToOutput(bus, 'sesn_1', (words) => heard.push(words))
    sendOutput(bus, 'sesn_1', output)
    const foreign = [
      ...[{}, { kind: 'output' }, { kind: 'promoted', ids: [] }, { missed: true }],
      { kind: 'output', output: { ...output, end: -1 } },
    ]
    for (const message of foreign) bus.live.publish('output:sesn_1', message)
    assert.deepEqual(heard, [{ kind: 'output', output }])
  })
})
