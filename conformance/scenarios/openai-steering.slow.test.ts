/** Messages that come while a turn of `/openai/v1` runs, by the unmodified `openai` client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { newestOpenAI } from '../openai.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubReply } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { post } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const hosted = { type: 'openai_hosted' } as const
const message = (text: string): OpenAI.Beta.AgentSessionInputParam => ({
  type: 'agent.session.input.message',
  input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
})
const says = (text: string): StubAnswer => ({
  blocks: [{ type: 'text', pieces: [text] }],
  stop: 'end_turn',
})
const calls = (name: string, input: object): StubAnswer => ({
  blocks: [{ type: 'tool_call', id: 'toolu_1', name, pieces: [JSON.stringify(input)] }],
  stop: 'tool_use',
})

/** An answer of a model that is held until `release`. `asked`: resolves once the model was asked. */
function held(answer: StubAnswer) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = () => {
    asked.resolve()
    return released.promise
  }
  return { reply: { answer, hold }, asked: asked.promise, release: () => released.resolve() }
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`messages during a turn of the OpenAI surface, on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    before(async () => {
      service = await boot(database)
      agents = newestOpenAI(service).beta.agents
    })
    after(() => service.close())

    type Stub = Awaited<ReturnType<typeof startStub>>
    /** The model answers with `replies`, from the first request of the session on. */
    const begin = async (stub: Stub, replies: readonly StubReply[], extra: object = {}) => {
      const model = await pricedModel(service, stub, { input: 1, output: 1 })
      stub.requests.length = 0
      stub.replies(...replies)
      const agent = { model, ...extra }
      return (await agents.sessions.create({ agent, environment: hosted, input: 'begin' })).id
    }
    const send = (id: string, text: string) =>
      agents.sessions.events.create(id, { events: [message(text)] })
    const turnsOf = async (id: string) =>
      (await agents.sessions.turns.list(id, { order: 'asc' })).data
    const rested = (id: string) =>
      until(async () => {
        const all = await turnsOf(id)
        return all.length > 0 && all.every(({ status }) => status === 'completed')
      })
    const heardBy = (stub: Stub, index: number) => JSON.stringify(stub.requests[index]?.body)
    const toldIn = async (id: string, turn: string | undefined) => {
      const items = agents.sessions.turns.items.list(turn ?? '', { session_id: id, order: 'asc' })
      return (await Array.fromAsync(items)).flatMap((item) =>
        item.type === 'message'
          ? item.content.map((part) => ('text' in part ? part.text : part.type))
          : item.type,
      )
    }

    verifies(
      'openai/events/steer',
      'a message joins the turn that runs, and the model reads it with its next request',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const first = held(calls('bash', { command: 'echo worked' }))
        const id = await begin(stub, [first.reply, says('both done')])
        await first.asked
        const [running] = await turnsOf(id)
        await send(id, 'and this too')
        assert.deepEqual(
          (await turnsOf(id)).map((turn) => turn.id),
          [running?.id],
        )
        first.release()
        await rested(id)
        assert.deepEqual(
          (await turnsOf(id)).map((turn) => turn.id),
          [running?.id],
        )
        assert.match(heardBy(stub, 1), /worked.*and this too/)
        assert.deepEqual(await toldIn(id, running?.id), [
          ...['begin', 'command_execution', 'and this too', 'both done'],
        ])
      },
    )

    verifies(
      'openai/events/steer',
      'a message that comes with the last words of a turn is still read in this turn',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const first = held(says('done'))
        const id = await begin(stub, [first.reply, says('done again')])
        const stream = await agents.sessions.events.stream(id)
        await first.asked
        await send(id, 'one thing more')
        first.release()
        const ends: string[] = []
        for await (const { type } of stream) {
          if (/turn\.(created|completed)$|session\.idle$/.test(type)) ends.push(type)
          if (type === 'agent.session.idle') break
        }
        assert.equal(ends.filter((type) => type.endsWith('turn.completed')).length, 1)
        const turns = await turnsOf(id)
        assert.equal(turns.length, 1)
        assert.match(heardBy(stub, 1), /one thing more/)
        assert.deepEqual(await toldIn(id, turns[0]?.id), [
          ...['begin', 'done', 'one thing more', 'done again'],
        ])
      },
    )

    verifies(
      'openai/events/steer',
      'a message that comes while a function waits is read after its result, in the same turn',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const parameters = { type: 'object', properties: {} }
        const id = await begin(stub, [calls('price', {}), says('three')], {
          tools: [{ type: 'function', name: 'price', description: 'A price', parameters }],
        })
        await until(async () => (await agents.sessions.retrieve(id)).status === 'requires_action')
        await send(id, 'in words')
        const { required_actions } = await agents.sessions.retrieve(id)
        const [action] = required_actions
        assert.equal(action?.type, 'function_call')
        assert.equal((await turnsOf(id)).length, 1)
        await agents.sessions.events.create(id, {
          events: [
            {
              type: 'agent.session.input.tool_result',
              ...{ call_id: action.call_id, turn_id: action.turn_id },
              ...{ success: true, output: '3' },
            },
          ],
        })
        await rested(id)
        assert.equal((await turnsOf(id)).length, 1)
        assert.match(heardBy(stub, 1), /in words/)
      },
    )

    verifies(
      ['openai/events/steer', 'turns/queue', 'openai/turns/queued'],
      'a message of /v1 waits for the end of the turn, and so does one behind it',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const first = held(calls('bash', { command: 'true' }))
        const id = await begin(stub, [first.reply, says('first'), says('second')])
        await first.asked
        await post(service, id, 'later')
        await send(id, 'later too')
        assert.deepEqual(
          (await turnsOf(id)).map(({ status }) => status),
          ['in_progress', 'queued'],
        )
        first.release()
        await until(async () => stub.requests.length === 3)
        await rested(id)
        assert.doesNotMatch(heardBy(stub, 1), /later/)
        assert.match(heardBy(stub, 2), /later.*later too/)
        assert.equal((await turnsOf(id)).length, 2)
      },
    )

    verifies(
      'openai/automations/existing-session',
      'an automation that posts to a session joins the turn that runs',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const first = held(calls('bash', { command: 'true' }))
        const id = await begin(stub, [first.reply, says('done')])
        await first.asked
        const automation = await agents.automations.create({
          ...{ name: 'reminder', type: 'periodic', expression: '0 0 1 1 *', timezone: 'UTC' },
          target: { type: 'existing_session', session_id: id, instructions: 'look here' },
        })
        await agents.automations.invocations.create(automation.id)
        first.release()
        await rested(id)
        assert.equal((await turnsOf(id)).length, 1)
        assert.match(heardBy(stub, 1), /look here/)
      },
    )
  })
}
