import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, playTurn, text, tool } from './fixture.ts'
import type { KeptEvent } from './kept-event.ts'
import { textResult } from './tools/tool.ts'
import { TurnFailed } from '@steward/protocol/turn-failed.ts'

const done = { blocks: [text('done')] }
const resultsOf = (log: readonly KeptEvent[]): string[] =>
  log.flatMap(({ event }) =>
    event.type === 'agent.tool_result'
      ? (event.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join(', ')
      : [],
  )

void describe('calls of tools', () => {
  void it('that may have changed the sandbox are looked at before their results are kept', async () => {
    const order: string[] = []
    const ran = (name: string) => async () => {
      order.push(name)
      return textResult(name)
    }
    const { log } = await playTurn({
      answers: [{ blocks: [call('reads'), call('writes')] }, done],
      tools: [
        tool('reads', { sandbox: 'read', run: ran('reads') }),
        tool('writes', { sandbox: 'changed', run: ran('writes') }),
      ],
      async changed() {
        order.push('looked')
        return ['kept', 'not kept']
      },
    })
    assert.deepEqual(order, ['reads', 'writes', 'looked'])
    assert.deepEqual(resultsOf(log), ['reads', 'writes, kept\nnot kept'])
  })

  void it('of any kind add to their results the announcements that came meanwhile', async () => {
    const came = ['a file', 'another']
    const { log } = await playTurn({
      answers: [{ blocks: [call('asks'), call('writes')] }, done],
      tools: [
        tool('asks', { sandbox: 'unused', run: async () => textResult('asked') }),
        tool('writes', { sandbox: 'changed', run: async () => textResult('wrote') }),
      ],
      changed: async () => ['kept'],
      announced: async () => came.splice(0, 1),
    })
    assert.deepEqual(resultsOf(log).toSorted(), ['asked, a file', 'wrote, kept\nanother'])
  })

  void it('end the turn when nothing else would mend the failure', async () => {
    const failure = { type: 'unknown_error', message: 'the workspace is gone' } as const
    const { log, end, model } = await playTurn({
      answers: [{ blocks: [call('bash')] }, done],
      tools: [tool('bash', { run: () => Promise.reject(new TurnFailed(failure)) })],
    })
    assert.deepEqual(resultsOf(log), [failure.message])
    assert.deepEqual(end.stop, { type: 'retries_exhausted' })
    assert.equal(model.calls.length, 1)
    const error = log.at(-1)?.event
    assert.ok(error?.type === 'session.error')
    assert.deepEqual(error.error, { ...failure, retry_status: { type: 'exhausted' } })
  })

  void it('add notices to their results for the model, and to the log for its readers', async () => {
    const news = [
      { reason: 'sandbox_replaced', message: 'it is another one', told: true },
      { reason: 'else', message: 'for people' },
    ]
    const { log } = await playTurn({
      answers: [{ blocks: [call('reads')] }, done],
      tools: [tool('reads', { sandbox: 'read' })],
      notices: () => news.splice(0),
    })
    assert.deepEqual(resultsOf(log), ['reads ran, it is another one'])
    const warnings = log.flatMap(({ event }) =>
      event.type === 'session.warning' ? event.reason : [],
    )
    assert.deepEqual(warnings, ['sandbox_replaced', 'else'])
  })
})
