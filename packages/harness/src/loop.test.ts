import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ModelFailure } from '@steward/model/model.ts'
import type { NewEvent } from '@steward/protocol/events.ts'
import { call, playTurn, text, thinking, tool, typesOf } from './fixture.ts'
import type { KeptEvent } from './kept-event.ts'

const overloaded: ModelFailure = { kind: 'overloaded', retryable: true, message: 'busy' }
const last = (kept: readonly KeptEvent[]): NewEvent | undefined => kept.at(-1)?.event
const errors = (kept: readonly KeptEvent[]) =>
  kept.flatMap(({ event }) => (event.type === 'session.error' ? [event.error] : []))

void describe('a turn', () => {
  void it('streams an answer and returns its events for the commit of the idle', async () => {
    const usage = {
      input_tokens: 3,
      output_tokens: 2,
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 0,
    }
    const { keeps, end, frames, order } = await playTurn({
      answers: [{ blocks: [thinking('hm', 'sig'), text('hello there')], usage }],
    })
    assert.deepEqual(keeps.map(typesOf), [['span.model_request_start']])
    assert.deepEqual(order, [
      'keep span.model_request_start',
      ...['first_token', 'start', 'chunk', 'end'],
      ...['start', 'chunk', 'chunk', 'end'],
    ])
    assert.deepEqual(typesOf(end.last), [
      'agent.thinking',
      'agent.message',
      'span.model_request_end',
    ])
    assert.deepEqual(end.stop, { type: 'end_turn' })
    const [thought, said, over] = end.last.map(({ event }) => event)
    const ids = frames.flatMap((frame) => (frame.kind === 'start' ? frame.id : []))
    assert.deepEqual(ids, [thought?.id, said?.id])
    assert.ok(over?.type === 'span.model_request_end')
    assert.deepEqual(over.model_usage, usage)
    assert.equal(over.is_error, false)
    assert.equal(over.model_request_start_id, keeps[0]?.[0]?.event.id)
    const pieces = frames.flatMap((frame) =>
      frame.kind === 'chunk' && frame.of === 'agent.message' ? frame.delta : [],
    )
    assert.equal(pieces.join(''), 'hello there')
  })

  void it('keeps no trace of an empty text', async () => {
    const { end, frames } = await playTurn({ answers: [{ blocks: [text(''), text('x')] }] })
    assert.deepEqual(typesOf(end.last), ['agent.message', 'span.model_request_end'])
    assert.equal(frames.filter(({ kind }) => kind === 'start').length, 1)
  })

  void it('continues a request whose start was kept already', async () => {
    const { keeps, end } = await playTurn({
      answers: [{ blocks: [text('x')] }],
      begun: 'sevt_begun',
    })
    assert.deepEqual(keeps, [])
    const over = last(end.last)
    assert.equal(
      over?.type === 'span.model_request_end' && over.model_request_start_id,
      'sevt_begun',
    )
  })

  void it('keeps a call before it runs, and asks again with its result', async () => {
    const steps: string[] = []
    const bash = tool('bash', {
      run: async () => {
        steps.push('run')
        return { content: [{ type: 'text', text: 'out' }], is_error: false }
      },
      prepare: () => steps.push('prepare'),
    })
    const { model, keeps, end } = await playTurn({
      answers: [{ blocks: [text('let me'), call('bash', { a: 1 })] }, { blocks: [text('done')] }],
      tools: [bash],
      on: (step) => step.type === 'keep' && steps.push(typesOf(step.kept).join(' ')),
    })
    assert.deepEqual(steps, [
      'span.model_request_start',
      'prepare',
      'agent.message agent.tool_use span.model_request_end',
      'run',
      'agent.tool_result span.model_request_start',
    ])
    const use = keeps[1]?.[1]?.event
    assert.ok(use?.type === 'agent.tool_use')
    assert.equal(use.evaluated_permission, 'allow')
    assert.deepEqual(use.evaluation, { type: 'always_allow' })
    assert.deepEqual(
      model.calls[1]?.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool_result'],
    )
    assert.deepEqual(end.stop, { type: 'end_turn' })
  })

  void it('begins the next request in the commit of the last result, and only there', async () => {
    const { keeps } = await playTurn({
      answers: [{ blocks: [call('bash'), call('bash')] }, { blocks: [text('done')] }],
      tools: [tool('bash')],
    })
    assert.deepEqual(keeps.map(typesOf).slice(2), [
      ['agent.tool_result'],
      ['agent.tool_result', 'span.model_request_start'],
    ])
  })

  void it('begins no request with the last result of a turn that is ended early', async () => {
    const { keeps } = await playTurn({
      answers: [{ blocks: [call('bash')] }, { blocks: [text('done')] }],
      tools: [tool('bash')],
      isLeft: () => true,
    })
    assert.deepEqual(keeps.map(typesOf).slice(2), [
      ['agent.tool_result'],
      ['span.model_request_start'],
    ])
  })

  void it('ends the request that the last result began, and does not send it, when it is interrupted there', async () => {
    const { keeps, end, model } = await playTurn({
      answers: [{ blocks: [call('bash')] }],
      tools: [tool('bash')],
      on: (step, abort) => {
        if (step.type === 'keep' && typesOf(step.kept).includes('agent.tool_result')) abort()
      },
    })
    const start = keeps.at(-1)?.at(-1)?.event
    assert.equal(start?.type, 'span.model_request_start')
    const [last] = end.last.map(({ event }) => event)
    assert.ok(last?.type === 'span.model_request_end' && last.is_error)
    assert.equal(last.model_request_start_id, start?.id)
    assert.equal(model.calls.length, 1)
  })

  void it('stops at a refusal, and acts on nothing of it', async () => {
    let ran = false
    const bash = tool('bash', {
      run: async () => {
        ran = true
        return { content: [], is_error: false }
      },
    })
    const { end } = await playTurn({
      answers: [{ blocks: [text('no'), call('bash')], end: 'refusal' }],
      tools: [bash],
    })
    assert.deepEqual(end.stop, { type: 'refusal' })
    assert.deepEqual(typesOf(end.last), ['agent.message', 'span.model_request_end'])
    assert.equal(ran, false)
  })

  void it('ends at its limit of requests with an error that says so', async () => {
    const answers = Array.from({ length: 3 }, () => ({ blocks: [call('bash')] }))
    const { model, end } = await playTurn({ answers, tools: [tool('bash')], maxRequests: 3 })
    assert.equal(model.calls.length, 3)
    assert.deepEqual(end.stop, { type: 'retries_exhausted' })
    assert.equal(errors(end.last)[0]?.type, 'tool_use_limit_reached_error')
  })

  void it('sends every tool once, in the order of the turn', async () => {
    const { model } = await playTurn({
      answers: [{ blocks: [text('x')] }],
      tools: [tool('b'), tool('a'), tool('b')],
    })
    assert.deepEqual(
      model.calls[0]?.tools.map(({ name }) => name),
      ['b', 'a'],
    )
  })
})

void describe('a model request that fails', () => {
  void it('is tried again after a while, and nothing of it is kept', async () => {
    const { keeps, end, sleeps } = await playTurn({
      answers: [
        { half: { block: 'text', text: 'half' }, end: overloaded },
        { blocks: [text('whole')] },
      ],
    })
    assert.deepEqual(keeps.map(typesOf), [
      ['span.model_request_start'],
      ['span.model_request_end', 'session.error', 'session.status_rescheduled'],
      ['session.status_running'],
      ['span.model_request_start'],
    ])
    const over = keeps[1]?.[0]?.event
    assert.equal(over?.type === 'span.model_request_end' && over.is_error, true)
    assert.deepEqual(errors(keeps.flat()), [
      { type: 'model_overloaded_error', message: 'busy', retry_status: { type: 'retrying' } },
    ])
    assert.deepEqual(sleeps, [10])
    assert.deepEqual(typesOf(end.last), ['agent.message', 'span.model_request_end'])
  })

  void it('waits as long as the provider asks, up to a minute', async () => {
    const failing = (retryAfterMs: number) => ({ end: { ...overloaded, retryAfterMs } })
    const { sleeps } = await playTurn({
      answers: [failing(5), failing(500_000), { blocks: [text('x')] }],
    })
    assert.deepEqual(sleeps, [10, 60_000])
  })

  void it('ends the turn when all tries are used up', async () => {
    const { end, sleeps } = await playTurn({
      answers: [{ end: overloaded }, { end: overloaded }, { end: overloaded }],
    })
    assert.deepEqual(sleeps, [10, 20])
    assert.deepEqual(end.stop, { type: 'retries_exhausted' })
    assert.deepEqual(typesOf(end.last), ['span.model_request_end', 'session.error'])
    assert.deepEqual(errors(end.last)[0]?.retry_status, { type: 'exhausted' })
  })

  void it('says where to fork when the provider refuses what it was sent', async () => {
    for (const [accepted, where] of [
      [undefined, '`at_seq` before the event that brought it'],
      [41, '`at_seq` 41, the last event that was accepted'],
    ] as const) {
      const refusal = { kind: 'request_failed', retryable: false, status: 400 } as const
      const { end } = await playTurn({
        answers: [{ end: { ...refusal, message: 'no' } }],
        accepted: async () => accepted,
      })
      assert.ok(errors(end.last)[0]?.message.includes(`fork the session with ${where}`))
    }
  })

  void it('is not tried again when that cannot help', async () => {
    for (const [kind, type] of [
      ['billing', 'billing_error'],
      ['authentication', 'model_request_failed_error'],
      ['context_overflow', 'compaction_limit_reached_error'],
    ] as const) {
      const { end, sleeps } = await playTurn({
        answers: [{ end: { kind, retryable: false, message: 'no' } }],
      })
      assert.deepEqual(sleeps, [])
      assert.deepEqual(end.stop, { type: 'retries_exhausted' })
      assert.equal(errors(end.last)[0]?.type, type)
      if (kind === 'context_overflow') assert.match(errors(end.last)[0]?.message ?? '', /context/)
    }
  })

  void it('may be interrupted while it waits', async () => {
    const { end, model } = await playTurn({
      answers: [{ end: overloaded }],
      on: (step, abort) => {
        if (step.type === 'keep' && typesOf(step.kept).includes('session.error')) abort()
      },
    })
    assert.deepEqual(end, { stop: { type: 'end_turn' }, last: [] })
    assert.equal(model.calls.length, 1)
  })

  void it('counts for each try on its own, not for all of a turn', async () => {
    const flaky = [{ end: overloaded }, { end: overloaded }]
    const { end, sleeps } = await playTurn({
      answers: [...flaky, { blocks: [call('bash')] }, ...flaky, { blocks: [text('x')] }],
      tools: [tool('bash')],
    })
    assert.deepEqual(sleeps, [10, 20, 10, 20])
    assert.deepEqual(end.stop, { type: 'end_turn' })
  })
})
