import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ModelFailure } from '@steward/model/model.ts'
import {
  longConversation,
  nativeCompaction,
  summaryAnswer,
} from './compaction/compaction-fixture.ts'
import { call, playTurn, text, tool, typesOf } from './fixture.ts'

const overloaded: ModelFailure = { kind: 'overloaded', retryable: true, message: 'busy' }
const reached = { type: 'budget_reached' }

/** Allows this number of model requests. */
function allowing(requests: number): () => Promise<boolean> {
  let left = requests
  return async () => left-- > 0
}

void describe('a turn with a budget', () => {
  void it('runs the calls of its last request, and does not ask again', async () => {
    const { end, log, model } = await playTurn({
      answers: [{ blocks: [call('bash')] }, { blocks: [text('never')] }],
      tools: [tool('bash')],
      mayAsk: allowing(1),
    })
    assert.deepEqual(end.stop, reached)
    assert.equal(model.calls.length, 1)
    assert.deepEqual(typesOf(log), [
      ...['span.model_request_start', 'agent.tool_use', 'span.model_request_end'],
      'agent.tool_result',
    ])
  })

  void it('ends a request that had begun and is not made', async () => {
    const { end, model } = await playTurn({ begun: 'sevt_begun', mayAsk: allowing(0) })
    assert.deepEqual(end.stop, reached)
    assert.equal(model.calls.length, 0)
    assert.deepEqual(typesOf(end.last), ['span.model_request_end'])
  })

  void it('does not repeat a failed request that has spent it', async () => {
    const { end, model } = await playTurn({
      answers: [{ end: overloaded }, { blocks: [text('never')] }],
      mayAsk: allowing(1),
    })
    assert.deepEqual(end.stop, reached)
    assert.equal(model.calls.length, 1)
  })

  void it('makes no summary, and after a summary no request, that it has no money for', async () => {
    const given = {
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic'),
      tools: [tool('bash')],
    }
    const answers = [summaryAnswer(), { blocks: [text('never')] }]
    for (const [requests, made] of [
      [0, 0],
      [1, 1],
    ] as const) {
      const { end, model } = await playTurn({ ...given, answers, mayAsk: allowing(requests) })
      assert.deepEqual(end.stop, reached)
      assert.equal(model.calls.length, made)
    }
  })
})
