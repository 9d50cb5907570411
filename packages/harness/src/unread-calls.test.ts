import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, playTurn, text, tool, typesOf } from './fixture.ts'
import type { KeptEvent } from './kept-event.ts'
import { textResult } from './tools/tool.ts'

const done = { blocks: [text('done')] }
const answers = (log: readonly KeptEvent[]) =>
  log.flatMap(({ event }) => {
    if (event.type !== 'agent.tool_result' && event.type !== 'user.custom_tool_result') return []
    return [{ text: JSON.stringify(event.content), is_error: event.is_error }]
  })

void describe('calls that cannot be read', () => {
  void it('are answered and not run when their input was not whole, whatever the answer ended with', async () => {
    const ran: unknown[] = []
    const run = async (input: unknown) => {
      ran.push(input)
      return textResult('ran')
    }
    const tools = [tool('bash', { run }), tool('ask-client', { runs: 'client' })]
    const broken = (name: string) => ({ ...call(name), input: {}, fault: 'it ends too early' })
    const blocks = [call('bash', { command: 'ls' }), broken('bash'), broken('ask-client')]
    const { log } = await playTurn({ answers: [{ blocks, end: 'tool_use' }, done], tools })
    assert.deepEqual(ran, [{ command: 'ls' }])
    const faults = answers(log).filter(({ is_error }) => is_error)
    assert.equal(faults.length, 2)
    for (const { text } of faults) {
      assert.match(text, /not whole JSON: it ends too early; nothing was run/)
    }
  })

  void it('end the turn when five answers in a row have none that can be read', async () => {
    const broken = { blocks: [{ ...call('bash'), input: {}, fault: 'it is no object' }] }
    const good = { blocks: [call('bash', { command: 'ls' })] }
    const twice = [broken, broken, broken, broken, good, broken, broken, broken, broken, broken]
    const { end, model, log } = await playTurn({ answers: twice, tools: [tool('bash')] })
    assert.deepEqual(end.stop, { type: 'retries_exhausted' })
    assert.equal(model.calls.length, 10)
    assert.equal(answers(log).length, 10)
    const types = typesOf(end.last)
    assert.deepEqual(types.slice(-2), ['agent.tool_result', 'session.error'])
  })
})
