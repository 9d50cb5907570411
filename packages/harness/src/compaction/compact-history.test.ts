import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, ModelCall } from '@steward/model/model.ts'
import type { TurnRecord } from '../fixture.ts'
import { call, playTurn, text, tool, typesOf, userMessage } from '../fixture.ts'
import { emptyHistory, foldHistory, buildMessages } from '../history.ts'
import {
  answeredWith,
  bashExchange,
  longConversation,
  nativeCompaction,
  overflowFailure,
  summaryAnswer,
  manyWords,
} from './compaction-fixture.ts'

const tools = [tool('bash'), tool('write')]
const textsOf = ({ content }: Message): string[] =>
  content.flatMap((block) => ('text' in block ? block.text : []))
const allOf = ({ messages }: ModelCall): string => messages.flatMap(textsOf).join('\n')
const spans = ({ log }: TurnRecord): string[] =>
  typesOf(log).filter((type) => type.includes('compact'))
const errors = ({ log }: TurnRecord) =>
  log.flatMap(({ event }) => (event.type === 'session.error' ? [event.error] : []))
const boundaryOf = ({ log }: TurnRecord) =>
  log.find(({ event }) => event.type === 'agent.thread_context_compacted')
const callOf = ({ model }: TurnRecord, index: number): ModelCall => {
  const made = model.calls[index]
  assert.ok(made, `the model was asked ${index + 1} times`)
  return made
}

void describe('compaction that is due', () => {
  void it('sums up what is old, and asks with the summary and the newest message', async () => {
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic'),
      answers: [summaryAnswer(), answeredWith(text('fine'))],
      tools,
    })
    const main = callOf(played, 1)
    assert.deepEqual(
      main.messages.map(({ role }) => role),
      ['user', 'user'],
    )
    assert.match(allOf(main), /THE SUMMARY[^]*the newest wish/)
    assert.equal(main.system, 'be brief')
    assert.equal(main.cacheKey, 'sesn_1')
    assert.deepEqual(typesOf(played.log), [
      'span.compaction_summarize_start',
      'span.compaction_summarize_end',
      'agent.thread_context_compacted',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
    ])
    assert.deepEqual(
      played.keeps[1]?.map(({ event }) => event.type),
      ['span.compaction_summarize_end', 'agent.thread_context_compacted'],
    )
    const end = played.log[1]?.event
    assert.ok(end?.type === 'span.compaction_summarize_end')
    assert.deepEqual([end.is_error, end.model_usage.output_tokens], [false, 7])
  })

  void it('asks beside the conversation: a prompt of its own, no tools, no bytes, another session id', async () => {
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic', { compaction_max_summary_tokens: 321 }),
      answers: [summaryAnswer(), answeredWith()],
      tools,
    })
    const asked = callOf(played, 0)
    assert.match(asked.system, /summary/)
    assert.ok(asked.system.length < 1_000)
    assert.deepEqual(asked.tools, [])
    assert.notEqual(asked.cacheKey, 'sesn_1')
    assert.equal(asked.maxTokens, 321)
    assert.equal(asked.messages.length, 1)
    assert.match(allOf(asked), /\[image image\/png\]/)
    assert.doesNotMatch(JSON.stringify(asked.messages), /SECRETBYTES/)
    assert.match(allOf(asked), /calls bash/)
  })

  void it('asks for the five parts when it is structured', async () => {
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-structured'),
      answers: [summaryAnswer(), answeredWith()],
    })
    const { system, tools: given } = callOf(played, 0)
    assert.deepEqual(
      [...system.matchAll(/^## (\w+)$/gm)].map(([, part]) => part),
      ['Goal', 'Instructions', 'Discoveries', 'Accomplished', 'Files'],
    )
    assert.deepEqual(given, [])
  })

  void it('repeats the main request to the byte when it summarizes, with one instruction behind it', async () => {
    const before = longConversation()
    const played = await playTurn({
      before,
      compaction: nativeCompaction('summarize'),
      answers: [summaryAnswer(), answeredWith()],
      tools,
    })
    const asked = callOf(played, 0)
    const history = buildMessages(foldHistory(emptyHistory(), before))
    assert.equal(JSON.stringify(asked.messages.slice(0, -1)), JSON.stringify(history))
    assert.equal(asked.messages.at(-1)?.role, 'user')
    const main = callOf(played, 1)
    for (const field of ['system', 'tools', 'cacheKey'] as const)
      assert.equal(JSON.stringify(asked[field]), JSON.stringify(main[field]))
    assert.equal('toolChoice' in asked, false)
    assert.doesNotMatch(allOf(main), /Call no tool/)
  })

  void it('rejects a summary that calls a tool, and asks for one of the text alone', async () => {
    let runs = 0
    const bash = tool('bash', {
      run: async () => {
        runs += 1
        return { content: [], is_error: false }
      },
    })
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('summarize'),
      answers: [answeredWith(text('well'), call('bash')), summaryAnswer('SECOND'), answeredWith()],
      tools: [bash],
    })
    assert.equal(runs, 0)
    assert.deepEqual(spans(played), [
      'span.compaction_summarize_start',
      'span.compaction_summarize_end',
      'span.compaction_summarize_start',
      'span.compaction_summarize_end',
      'agent.thread_context_compacted',
    ])
    assert.deepEqual(callOf(played, 1).tools, [])
    assert.match(allOf(callOf(played, 2)), /SECOND/)
    assert.doesNotMatch(allOf(callOf(played, 2)), /well/)
  })

  void it("uses the agent's own prompt", async () => {
    for (const strategy of ['isolated-basic', 'isolated-structured', 'summarize'] as const) {
      const played = await playTurn({
        before: longConversation(),
        compaction: nativeCompaction(strategy, { compaction_summary_prompt: 'MY OWN WORDS' }),
        answers: [summaryAnswer(), answeredWith()],
      })
      const { system, messages } = callOf(played, 0)
      const text = strategy === 'summarize' ? messages.slice(-1).flatMap(textsOf).join('') : system
      assert.equal(text, 'MY OWN WORDS')
    }
  })

  void it('keeps a shortened transcript when no summary comes, and the newest message whole', async () => {
    const failure = { kind: 'request_failed', retryable: true, message: 'no' } as const
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic'),
      answers: [{ end: failure }, { end: failure }, { end: failure }, answeredWith(text('on'))],
    })
    assert.equal(boundaryOf(played)?.event.type, 'agent.thread_context_compacted')
    const main = callOf(played, 3)
    assert.match(allOf(main), /No summary could be written[^]*look at this/)
    assert.deepEqual(main.messages.slice(-1).flatMap(textsOf), ['the newest wish'])
    assert.ok(allOf(main).length < 30_000)
    assert.deepEqual(played.end.stop, { type: 'end_turn' })
  })

  void it('gives nothing up for a failure that the main request would share', async () => {
    const billing = { kind: 'billing', retryable: false, message: 'pay' } as const
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic'),
      answers: [{ end: billing }, { end: billing }],
    })
    assert.equal(boundaryOf(played), undefined)
    assert.deepEqual(
      errors(played).map(({ type }) => type),
      ['billing_error'],
    )
  })

  void it('may be interrupted, and then does not change the conversation', async () => {
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic'),
      answers: [{ end: 'hang' }],
      begun: 'sevt_begun',
      on: (_, abort) => setImmediate(abort),
    })
    assert.deepEqual(played.end.stop, { type: 'end_turn' })
    assert.equal(boundaryOf(played), undefined)
    assert.deepEqual(typesOf(played.end.last), [
      'span.compaction_summarize_end',
      'span.model_request_end',
    ])
  })

  void it('comes within a turn too, and keeps the newest call with its result', async () => {
    const bash = tool('bash', {
      run: async () => ({ content: [{ type: 'text', text: 'FRESH' }], is_error: false }),
    })
    const usage = { ...noTokens, input_tokens: 85_000 }
    const played = await playTurn({
      before: [
        userMessage('the wish'),
        ...bashExchange(manyWords('old', 300)),
        ...bashExchange('older'),
      ],
      compaction: nativeCompaction('isolated-basic'),
      answers: [{ blocks: [call('bash')], usage }, summaryAnswer(), answeredWith(text('done'))],
      tools: [bash],
    })
    const { messages } = callOf(played, 2)
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'user', 'assistant', 'tool_result', 'assistant', 'tool_result'],
    )
    assert.deepEqual(messages.slice(1, 2).flatMap(textsOf), ['the wish'])
    assert.deepEqual(messages.slice(-1).flatMap(textsOf), ['FRESH'])
  })

  void it('does not come again before the conversation has grown', async () => {
    const usage = { ...noTokens, input_tokens: 95_000 }
    const played = await playTurn({
      before: longConversation(),
      compaction: nativeCompaction('isolated-basic'),
      answers: [summaryAnswer(), { blocks: [call('bash')], usage }, { blocks: [text('x')], usage }],
      tools,
    })
    assert.equal(spans(played).length, 3)
  })

  void it('begins the history that a log is read into, to the byte', async () => {
    const before = longConversation()
    const played = await playTurn({
      before,
      compaction: nativeCompaction('isolated-basic'),
      answers: [summaryAnswer(), { blocks: [call('bash')] }, answeredWith(text('end'))],
      tools,
    })
    const at = played.log.findIndex(({ event }) => event.type.startsWith('agent.thread'))
    const warm = buildMessages(foldHistory(emptyHistory(), [...before, ...played.log]))
    const cold = buildMessages(foldHistory(emptyHistory(), played.log.slice(at)))
    assert.equal(JSON.stringify(cold), JSON.stringify(warm))
    const last = callOf(played, 2).messages
    assert.equal(JSON.stringify(cold.slice(0, last.length)), JSON.stringify(last))
  })
})

void describe('a request that the provider refuses as too long', () => {
  for (const harness of ['default', 'native'] as const) {
    void it(`is compacted and made again, with harness ${harness}`, async () => {
      const played = await playTurn({
        before: longConversation().filter(({ event }) => event.type !== 'span.model_request_end'),
        ...(harness === 'native' ? { compaction: nativeCompaction('summarize') } : {}),
        answers: [{ end: overflowFailure }, summaryAnswer(), answeredWith(text('fits'))],
        tools,
      })
      assert.deepEqual(played.end.stop, { type: 'end_turn' })
      assert.deepEqual(errors(played), [])
      assert.deepEqual(callOf(played, 1).tools, [], 'what was refused is not repeated')
      assert.match(allOf(callOf(played, 2)), /THE SUMMARY[^]*the newest wish/)
      assert.deepEqual(typesOf(played.log), [
        'span.model_request_start',
        'span.model_request_end',
        'span.compaction_summarize_start',
        'span.compaction_summarize_end',
        'agent.thread_context_compacted',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
      ])
    })

    void it(`ends the turn when it is refused again, with harness ${harness}`, async () => {
      const played = await playTurn({
        before: longConversation().filter(({ event }) => event.type !== 'span.model_request_end'),
        ...(harness === 'native' ? { compaction: nativeCompaction('isolated-basic') } : {}),
        answers: [{ end: overflowFailure }, summaryAnswer(), { end: overflowFailure }],
      })
      assert.equal(played.model.calls.length, 3)
      assert.deepEqual(
        errors(played).map(({ type }) => type),
        ['compaction_limit_reached_error'],
      )
      assert.deepEqual(played.end.stop, { type: 'retries_exhausted' })
    })
  }

  void it('is made again with half of a transcript that is too long itself', async () => {
    const played = await playTurn({
      before: longConversation(),
      answers: [
        { end: overflowFailure },
        { end: overflowFailure },
        summaryAnswer(),
        answeredWith(text('x')),
      ],
    })
    const [, first, second] = played.model.calls.map(allOf)
    assert.ok((second?.length ?? 0) < (first?.length ?? 0))
    assert.deepEqual(played.end.stop, { type: 'end_turn' })
  })

  void it('does not keep a session from going on, when it was one message that was too long', async () => {
    const giant = userMessage(manyWords('giant', 1_500))
    const first = await playTurn({ before: [giant], answers: [{ end: overflowFailure }] })
    assert.deepEqual(
      errors(first).map(({ type }) => type),
      ['compaction_limit_reached_error'],
    )
    const second = await playTurn({
      before: [giant, ...first.log, userMessage('the next')],
      answers: [{ end: overflowFailure }, summaryAnswer(), answeredWith(text('on'))],
    })
    assert.match(allOf(callOf(second, 2)), /THE SUMMARY[^]*the next/)
    assert.doesNotMatch(allOf(callOf(second, 2)), /giant/)
    assert.deepEqual(second.end.stop, { type: 'end_turn' })
  })

  void it('ends the turn before a request of more than 96 MiB is written', async () => {
    const beyond = userMessage('x'.repeat(96 * 1024 * 1024))
    const played = await playTurn({ before: [beyond], answers: [] })
    assert.equal(played.model.calls.length, 0)
    assert.deepEqual(
      errors(played).map(({ type, message }) => [
        type,
        /holds more than 100663296 bytes/.test(message),
      ]),
      [['compaction_limit_reached_error', true]],
    )
    assert.deepEqual(played.end.stop, { type: 'retries_exhausted' })
  })

  void it('shortens the newest results when they alone are too much', async () => {
    const result = bashExchange(manyWords('huge', 900))
    const played = await playTurn({
      before: [userMessage('the wish'), ...result],
      answers: [{ end: overflowFailure }, answeredWith(text('ok'))],
    })
    const { messages } = callOf(played, 1)
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool_result'],
    )
    assert.match(allOf(callOf(played, 1)), /characters left out/)
    assert.deepEqual(played.end.stop, { type: 'end_turn' })
  })
})

const noTokens = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}
