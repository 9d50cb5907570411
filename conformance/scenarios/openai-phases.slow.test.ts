/** Phases of messages, and what streams of `/openai/v1` tell besides text, by the unmodified `openai` client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import type { OpenAIEvent } from '../openai.ts'
import { newestOpenAI, typesOf } from '../openai.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const hosted = { type: 'openai_hosted' } as const
const price = { type: 'function', name: 'price', description: 'A price' } as const
const tools = [{ ...price, parameters: { type: 'object', properties: {} } }]

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`messages and streams of the OpenAI surface, on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    before(async () => {
      service = await boot(database)
      agents = newestOpenAI(service).beta.agents
    })
    after(() => service.close())

    /** The messages of the agent in the lists, as the stream should have shown them. */
    async function listedMessages(session: string) {
      const items = await Array.fromAsync(agents.sessions.items.list(session, { order: 'asc' }))
      return items.flatMap((item) =>
        item.type === 'message' && item.role === 'assistant' ? [item] : [],
      )
    }

    const doneMessages = (events: readonly OpenAIEvent[]) =>
      events.flatMap((event) =>
        event.type === 'agent.session.turn.item.done' && event.item.type === 'message'
          ? [event.item]
          : [],
      )

    verifies(
      ['openai/items/phases', 'openai/items/kinds', 'openai/events/order'],
      'a text before the last of its answer, or before a call, is a commentary, which is no part of the result',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        const text = (words: string) => ({ type: 'text' as const, pieces: [words] })
        const call = { type: 'tool_call' as const, id: 'toolu_1', name: 'bash' }
        stub.replies(
          {
            blocks: [text('I look'), { ...call, pieces: [JSON.stringify({ command: 'true' })] }],
            stop: 'tool_use',
          },
          { blocks: [text('one thing'), text('the answer')], stop: 'end_turn' },
        )
        const turn = await agents.sessions.create({
          ...{ agent: { model }, environment: hosted, input: 'go', stream: true },
          toolHandlers: {},
        })
        turn.withResultCollection()
        const events: OpenAIEvent[] = []
        for await (const event of turn) events.push(event)
        const { output_text, session_id } = await turn.finalResult()
        assert.equal(output_text, 'the answer')
        const listed = await listedMessages(session_id)
        assert.deepEqual(
          listed.map(({ phase }) => phase),
          ['commentary', 'commentary', 'final_answer'],
        )
        assert.deepEqual(doneMessages(events), listed)
        assert.ok(typesOf(events).includes('environment.ready'))
      },
    )

    verifies(
      ['openai/items/phases', 'openai/turns/statuses', 'events/ext/warning'],
      'a turn that ends at the output limit says so, and its message is incomplete',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        stub.replies({ blocks: [{ type: 'text', pieces: ['half an'] }], stop: 'max_tokens' })
        const events: OpenAIEvent[] = []
        for await (const event of await agents.sessions.create({
          ...{ agent: { model }, environment: { type: 'none' }, input: 'go', stream: true },
        }))
          events.push(event)
        const [begun] = events
        assert.equal(begun?.type, 'agent.session.created')
        const { id } = begun.session
        const [turn] = (await agents.sessions.turns.list(id)).data
        assert.deepEqual([turn?.status, turn?.error?.code], ['failed', 'max_output_tokens'])
        assert.ok(typesOf(events).includes('turn.failed'))
        const listed = await listedMessages(id)
        assert.deepEqual(
          listed.map(({ status }) => status),
          ['incomplete'],
        )
        assert.deepEqual(doneMessages(events), listed)
        assert.equal((await agents.sessions.retrieve(id)).status, 'idle')
      },
    )

    verifies(
      'openai/events/functions',
      'a stream begins with the calls that wait, so that its reader answers them',
      async () => {
        const { id } = await agents.sessions.create({
          agent: { model: 'offline', tools },
          ...{ environment: { type: 'none' }, input: 'call price {}' },
        })
        await until(async () => (await agents.sessions.retrieve(id)).status === 'requires_action')
        const stream = await agents.sessions.events.stream(id)
        const seen: string[] = []
        for await (const event of stream) {
          seen.push(event.type.replace('agent.session.', ''))
          if (event.type === 'agent.session.idle') break
          if (event.type !== 'agent.session.turn.item.added') continue
          const { item, turn_id } = event
          if (item.type !== 'function_call') continue
          const [action] = (await agents.sessions.retrieve(id)).required_actions
          assert.deepEqual(
            [item.call_id, turn_id],
            action?.type === 'function_call' ? [action.call_id, action.turn_id] : [],
          )
          await agents.sessions.events.create(id, {
            events: [
              {
                type: 'agent.session.input.tool_result',
                ...{ call_id: item.call_id, turn_id: turn_id ?? '', success: true, output: '3' },
              },
            ],
          })
        }
        assert.deepEqual(seen.slice(0, 3), [
          'turn.item.added',
          'turn.item.done',
          'turn.in_progress',
        ])
        const second = await agents.sessions.events.stream(id)
        await agents.sessions.stream(id, { input: 'say: on' }).finalResult()
        for await (const { type } of second) {
          assert.equal(type, 'agent.session.turn.created')
          break
        }
      },
    )

    verifies(
      'openai/events/environments',
      'what a command writes is shown while it runs',
      async () => {
        const pieces: string[] = []
        let ended = 0
        for await (const event of await agents.sessions.create({
          ...{ agent: { model: 'offline' }, environment: hosted, stream: true },
          input: 'run: echo first; sleep 1; echo second; sleep 1; echo third',
        })) {
          if (event.type === 'agent.output.command_execution_output.delta') pieces.push(event.delta)
          const isDone = event.type === 'agent.session.turn.item.done'
          if (isDone && event.item.type === 'command_execution') ended = pieces.length
        }
        assert.ok(pieces.length >= 1 && ended === pieces.length, JSON.stringify(pieces))
        const whole = 'first\nsecond\nthird\n'
        assert.equal(whole.slice(0, pieces.join('').length), pieces.join(''))
      },
    )
  })
}
