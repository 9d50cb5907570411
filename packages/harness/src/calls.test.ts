import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  call,
  plainSurroundings,
  playTurn,
  text,
  thinking,
  tool,
  typesOf,
  untilAborted,
  userMessage,
} from './fixture.ts'
import type { KeptEvent } from './kept-event.ts'
import { runTurn } from './loop.ts'
import { textResult } from './tools/tool.ts'
import type { OpenCall } from './turn.ts'
import { fakeModel } from './fake-model.ts'
import { emptyHistory } from './history.ts'

type TestAnswer = { of: string; text: string; is_error: boolean }

/** The results of the calls, in order. */
const answers = (log: readonly KeptEvent[]): TestAnswer[] =>
  log.flatMap(({ event }) => {
    if (event.type !== 'agent.tool_result' && event.type !== 'user.custom_tool_result') return []
    const of = event.type === 'agent.tool_result' ? event.tool_use_id : event.custom_tool_use_id
    const said = event.content?.map((block) => (block.type === 'text' ? block.text : '')) ?? []
    return [{ of, text: said.join(''), is_error: event.is_error ?? false }]
  })
const usesOf = (log: readonly KeptEvent[]): string[] =>
  log.flatMap(({ event }) => (event.type.endsWith('tool_use') ? [event.id] : []))

const done = { blocks: [text('done')] }
const openCall = (decision: OpenCall['decision'], more: Partial<OpenCall> = {}): OpenCall => ({
  event_id: `open_${decision}`,
  name: 'bash',
  input: {},
  decision,
  ...more,
})

void describe('calls of an answer', () => {
  void it('run at once, and each result is kept when it is there', async () => {
    const slow = Promise.withResolvers<void>()
    const tools = [
      tool('slow', { run: () => slow.promise.then(() => textResult('slow')) }),
      tool('fast', {
        run: async () => textResult('fast'),
      }),
    ]
    const { log } = await playTurn({
      answers: [{ blocks: [call('slow'), call('fast')] }, done],
      tools,
      on: (step) => {
        if (step.type === 'keep' && step.kept[0]?.event.type === 'agent.tool_result') slow.resolve()
      },
    })
    assert.deepEqual(
      answers(log).map((each) => each.text),
      ['fast', 'slow'],
    )
  })

  // verifies: tools/result/error
  void it('are refused where their input holds what no column of a database holds', async () => {
    const ran: string[] = []
    const run = async (input: Record<string, unknown>) => {
      ran.push(JSON.stringify(input))
      return textResult('ran')
    }
    const input = { note: ['a\0b'] }
    const { log } = await playTurn({
      answers: [{ blocks: [call('wake', input), call('write', input)] }, done],
      tools: [tool('wake', { sandbox: 'unused', run }), tool('write', { sandbox: 'changed', run })],
    })
    assert.deepEqual(ran, [JSON.stringify(input)])
    const [refused] = answers(log).filter((each) => each.is_error)
    assert.equal(refused?.text, 'the input of wake may not hold a NUL character')
  })

  void it('never overtake a change to the sandbox', async () => {
    const order: string[] = []
    const using = (name: string, sandbox: 'read' | 'changed', turns: number) =>
      tool(name, {
        sandbox,
        run: async () => {
          order.push(`${name} begins`)
          for (let tick = 0; tick < turns; tick++) await Promise.resolve()
          order.push(`${name} ends`)
          return textResult(name)
        },
      })
    const tools = [
      using('write', 'changed', 9),
      using('read', 'read', 5),
      using('look', 'read', 1),
      using('bash', 'changed', 1),
    ]
    const blocks = ['write', 'read', 'look', 'bash'].map((name) => call(name))
    await playTurn({ answers: [{ blocks }, done], tools })
    assert.deepEqual(order, [
      ...['write begins', 'write ends', 'read begins', 'look begins', 'look ends', 'read ends'],
      ...['bash begins', 'bash ends'],
    ])
  })

  void it('that cannot run are answered in the commit that records them', async () => {
    const strict = tool('strict', {
      permission: 'ask',
      input_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    })
    const { keeps, log, model } = await playTurn({
      answers: [{ blocks: [call('nothing'), call('strict', { n: 'x' })] }, done],
      tools: [strict],
    })
    assert.deepEqual(typesOf(keeps[1] ?? []), [
      ...['agent.tool_use', 'agent.tool_use', 'span.model_request_end'],
      ...['agent.tool_result', 'agent.tool_result'],
    ])
    assert.match(answers(log)[0]?.text ?? '', /no tool named nothing/)
    assert.match(answers(log)[1]?.text ?? '', /strict.*input\/n must be integer/)
    assert.equal(model.calls.length, 2)
  })

  void it('are not run when the answer was cut in the middle of their input', async () => {
    const ran: unknown[] = []
    const tools = [
      tool('write', {
        run: async (input) => {
          ran.push(input)
          return textResult('wrote')
        },
      }),
      tool('ask-client', { runs: 'client' }),
    ]
    const whole = call('write', { n: 1 })
    const first = await playTurn({
      answers: [{ blocks: [whole, call('write', { n: 2 })], end: 'max_tokens' }, done],
      tools,
    })
    assert.deepEqual(ran, [{ n: 1 }])
    assert.deepEqual(
      answers(first.log).map(({ is_error }) => is_error),
      [true, false],
    )
    const second = await playTurn({
      answers: [{ blocks: [call('ask-client')], end: 'max_tokens' }, done],
      tools,
    })
    assert.ok(typesOf(second.keeps[1] ?? []).includes('user.custom_tool_result'))
    const third = await playTurn({
      answers: [{ blocks: [whole, text('and th')], end: 'max_tokens' }, done],
      tools,
    })
    assert.equal(answers(third.log)[0]?.is_error, false)
  })

  void it('wait for whom they need, after the others have run', async () => {
    const tools = [
      tool('bash'),
      tool('careful', { permission: 'ask' }),
      tool('theirs', { runs: 'client' }),
    ]
    const { end, log, keeps, model } = await playTurn({
      answers: [{ blocks: [call('careful'), call('bash'), call('theirs')] }],
      tools,
    })
    const [careful, bash, theirs] = usesOf(log)
    assert.deepEqual(end.stop, { type: 'requires_action', event_ids: [careful, theirs] })
    assert.deepEqual(
      answers(log).map(({ of }) => of),
      [bash],
    )
    const use = keeps[1]?.[0]?.event
    assert.equal(use?.type === 'agent.tool_use' && use.evaluated_permission, 'ask')
    assert.ok(typesOf(keeps[1] ?? []).includes('agent.custom_tool_use'))
    assert.equal(model.calls.length, 1)
  })

  void it('that throw are a bug that is reported, and a failure for the model', async () => {
    const bug = new Error('secret detail')
    const { log, reported, end } = await playTurn({
      answers: [{ blocks: [call('bash')] }, done],
      tools: [tool('bash', { run: () => Promise.reject(bug) })],
    })
    assert.deepEqual(reported, [bug])
    assert.equal(answers(log)[0]?.is_error, true)
    assert.doesNotMatch(answers(log)[0]?.text ?? '', /secret/)
    assert.deepEqual(end.stop, { type: 'end_turn' })
  })

  void it('may have a schema that makes no sense, which then checks nothing', async () => {
    const odd = tool('odd', { input_schema: { type: 'object', properties: { a: { type: 7 } } } })
    const twin = { $id: 'same', type: 'object' }
    const { log } = await playTurn({
      answers: [{ blocks: [call('odd', { a: 1 }), call('one'), call('two')] }, done],
      tools: [
        odd,
        tool('one', { input_schema: twin }),
        tool('two', { input_schema: { ...twin, properties: {} } }),
      ],
    })
    assert.deepEqual(
      answers(log).map(({ is_error }) => is_error),
      [false, false, false],
    )
  })
})

void describe('open calls at the beginning of a turn', () => {
  const before = [
    userMessage('go'),
    ...(['run', 'deny', 'lost', 'wait'] as const).map((decision): KeptEvent => {
      const { event_id: id, name, input } = openCall(decision)
      return { event: { id, type: 'agent.tool_use', name, input } }
    }),
  ]

  void it('are run, refused, or given up as was decided, before the model is asked', async () => {
    const { log, model, end } = await playTurn({
      before,
      answers: [done],
      open: [openCall('run'), openCall('deny', { deny_message: 'not today' }), openCall('lost')],
      tools: [tool('bash')],
    })
    const of = (id: string) => answers(log).find((each) => each.of === id)
    assert.deepEqual(of('open_run'), { of: 'open_run', text: 'bash ran', is_error: false })
    assert.match(of('open_deny')?.text ?? '', /denied.*not today/)
    assert.match(of('open_lost')?.text ?? '', /in part/)
    assert.equal(of('open_lost')?.is_error, true)
    assert.equal(model.calls.length, 1)
    assert.deepEqual(end.stop, { type: 'end_turn' })
  })

  void it('run again when that is safe, although a dead process had begun them', async () => {
    const { log } = await playTurn({
      before,
      answers: [done],
      open: [openCall('lost')],
      tools: [tool('bash', { repeat: 'safe' })],
    })
    assert.deepEqual(answers(log)[0]?.text, 'bash ran')
  })

  void it('keep the model waiting while one of them waits', async () => {
    const { log, model, end } = await playTurn({
      before,
      open: [openCall('wait'), openCall('run')],
      tools: [tool('bash')],
    })
    assert.equal(answers(log).length, 1)
    assert.equal(model.calls.length, 0)
    assert.deepEqual(end, {
      stop: { type: 'requires_action', event_ids: ['open_wait'] },
      last: [],
    })
  })
})

void describe('an interrupt', () => {
  void it('ends a streaming answer, and what people saw of it stays', async () => {
    const { end, frames, model } = await playTurn({
      answers: [
        { blocks: [thinking('hm', 'sig')], half: { block: 'text', text: 'I was' }, end: 'hang' },
      ],
      on: (step, abort) => {
        if (step.type === 'frame' && step.frame.kind === 'chunk' && step.frame.delta === 'I was')
          abort()
      },
    })
    assert.deepEqual(end.stop, { type: 'end_turn' })
    assert.deepEqual(typesOf(end.last), [
      ...['agent.thinking', 'agent.message', 'span.model_request_end'],
    ])
    const [, said, over] = end.last.map(({ event }) => event)
    assert.deepEqual(said?.type === 'agent.message' && said.content, [
      { type: 'text', text: 'I was' },
    ])
    assert.equal(over?.type === 'span.model_request_end' && over.is_error, true)
    const last = frames.at(-1)
    assert.ok(last?.kind === 'end' && last.id === said?.id)
    assert.equal(model.open(), 0)
  })

  void it('drops half a call, and thinking that nothing followed is for people only', async () => {
    const { end } = await playTurn({
      answers: [
        {
          blocks: [thinking('hm', 'sig')],
          half: { block: 'tool_call', name: 'bash' },
          end: 'hang',
        },
      ],
      tools: [tool('bash')],
      on: (step, abort) => {
        if (step.type === 'frame' && step.frame.kind === 'chunk' && step.frame.delta === '{"half')
          abort()
      },
    })
    assert.deepEqual(typesOf(end.last), ['agent.thinking', 'span.model_request_end'])
    assert.equal(end.last[0]?.opaque, undefined)
  })

  void it('ends a running tool, and every call gets a result that goes with the idle', async () => {
    const tools = [
      tool('bash', { sandbox: 'changed', run: (_, { signal }) => untilAborted(signal) }),
    ]
    const { end, log, model } = await playTurn({
      answers: [{ blocks: [call('bash'), call('bash')] }],
      tools,
      on: (step, abort) => {
        if (step.type === 'keep' && typesOf(step.kept).includes('agent.tool_use'))
          setImmediate(abort)
      },
    })
    assert.deepEqual(end.stop, { type: 'end_turn' })
    assert.deepEqual(
      answers(end.last).map((each) => each.text),
      ['interrupted', 'interrupted before it was run'],
    )
    assert.deepEqual(
      answers(log)
        .map(({ of }) => of)
        .toSorted(),
      usesOf(log).toSorted(),
    )
    assert.equal(model.calls.length, 1)
  })

  void it('before the first request closes the request that was recorded', async () => {
    const { end, model } = await playTurn({
      begun: 'sevt_begun',
      open: [openCall('run')],
      tools: [tool('bash')],
      on: (step, abort) => step.type === 'keep' && abort(),
    })
    assert.deepEqual(typesOf(end.last), ['span.model_request_end'])
    assert.equal(model.calls.length, 0)
  })
})

void describe('a turn that is ended early', () => {
  const parts = {
    ...plainSurroundings,
    system: '',
    history: emptyHistory(),
    open: [],
    cacheKey: 'k',
    maxRequests: 9,
    retryDelaysMs: [],
    sleep: async () => {},
    newEventId: () => 'sevt_x',
    signal: new AbortController().signal,
    report: () => {},
  }
  const ended = { stop: { type: 'end_turn' }, last: [] } as const

  void it('closes its stream, at whatever step', async () => {
    for (const steps of [1, 2, 3]) {
      const model = fakeModel([{ half: { block: 'text', text: 'so' }, end: 'hang' }])
      const turn = runTurn({ ...parts, model, tools: [] })
      for (let step = 0; step < steps; step++) await turn.next()
      assert.equal(model.open(), 1)
      await turn.return({ ...ended, last: [] })
      assert.equal(model.open(), 0)
    }
  })

  void it('ends its tools', async () => {
    let isRunning = false
    const slow = tool('slow', {
      run: async (_, { signal }) => {
        isRunning = true
        const result = await untilAborted(signal)
        isRunning = false
        return result
      },
    })
    const model = fakeModel([{ blocks: [call('slow'), call('fast')] }])
    const turn = runTurn({ ...parts, model, tools: [slow, tool('fast')] })
    for (;;) {
      const { value } = await turn.next()
      if (value && 'type' in value && value.type === 'keep') {
        if (typesOf(value.kept).includes('agent.tool_result')) break
      }
    }
    assert.equal(isRunning, true)
    await turn.return({ ...ended, last: [] })
    assert.equal(isRunning, false)
  })
})
