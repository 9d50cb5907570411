import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { WaitingOn } from '@steward/protocol/waiting-on.ts'
import { pricedModel, says as saysAtCost } from '../priced-model.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { custom, newSession, post, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const asking = [
  { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
] as const
const answerTool = {
  type: 'custom',
  name: 'ask_user',
  description: 'Asks a person.',
  input_schema: { type: 'object', properties: { question: { type: 'string' } } },
} as const

const stopOf = ({ stop_reason }: SeenEvent) => (stop_reason as { type?: string } | undefined)?.type

const calls = (...named: [name: string, input: object][]): StubAnswer => ({
  blocks: named.map(([name, input], index) => ({
    type: 'tool_call',
    id: `call_${index}`,
    name,
    pieces: [JSON.stringify(input)],
  })),
  stop: 'tool_use',
  usage: { input: 10, output: 10 },
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`what a session waits for on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    const model = () => pricedModel(service, stub, { input: 1_000, output: 1_000 })
    const waitOf = async (session: string): Promise<WaitingOn> =>
      (await service.ask<{ waiting_on: WaitingOn }>('GET', `/v1/sessions/${session}`)).body
        .waiting_on
    const waiting = async (words: string): Promise<string[]> =>
      (await service.ask('GET', `/v1/sessions?waiting_on=${words}`)).body.data.map(({ id }) => id)

    verifies(
      [
        'sessions/waiting-on',
        'sessions/waiting-on/first',
        'sessions/waiting-on/filter',
        'sessions/waiting-on/archived',
      ],
      'a session says which call waits for a person, and lists find it by that',
      async () => {
        const session = await newSession(service, {
          model: await model(),
          tools: [...asking, answerTool],
        })
        assert.equal(await waitOf(session), null, 'nothing has begun')
        stub.replies(
          calls(
            ['ask_user', { question: 'Which branch?' }],
            ['bash', { command: 'ls' }],
            ['bash', { command: 'pwd' }],
          ),
        )
        const seen = await turn(service, session, 'go')
        const approval = await waitOf(session)
        const asked = seen.filter(({ type }) => type === 'agent.tool_use')
        assert.equal(approval?.type, 'approval')
        assert.equal(approval.who, 'person')
        assert.equal(approval.text, 'asks to approve bash')
        assert.equal(approval.count, 3)
        assert.deepEqual(approval.detail, { event_id: asked[0]?.id, tool: 'bash' })
        for (const words of ['approval', 'question', 'person', 'any', 'wakeup,question'])
          assert.deepEqual(await waiting(words), [session], words)
        for (const words of ['money', 'queue', 'tool_result', 'machine'])
          assert.deepEqual(await waiting(words), [], words)
        for (const { id } of asked)
          await post(service, session, {
            type: 'user.tool_confirmation',
            tool_use_id: id,
            result: 'deny',
          })
        const question = await waitOf(session)
        assert.equal(question?.type, 'question')
        assert.equal(question.count, 1)
        await service.raw('POST', `/v1/sessions/${session}/archive`)
        assert.equal(await waitOf(session), null)
        assert.deepEqual(await waiting('any'), [])
      },
    )

    verifies(
      ['sessions/waiting-on'],
      'a call of a custom tool without a question waits for a machine',
      async () => {
        const session = await newSession(service, { model: await model(), tools: [custom] })
        stub.replies(calls(['look_up', { what: 'x' }]))
        await turn(service, session, 'go')
        const wait = await waitOf(session)
        assert.equal(wait?.type, 'tool_result')
        assert.equal(wait.who, 'machine')
        assert.equal(wait.text, 'waits for the result of look_up')
      },
    )

    verifies(
      ['sessions/waiting-on'],
      'a session that has spent its budget waits for money',
      async () => {
        const budget = { type: 'limit', max_list_cost: { amount: '10', currency: 'USD' } } as const
        const session = await newSession(service, { model: await model() }, { budget })
        stub.replies(saysAtCost('done', { input: 150, output: 50 }))
        await turn(service, session, 'go')
        const wait = await waitOf(session)
        assert.equal(wait?.type, 'budget')
        assert.equal(wait.who, 'money')
        assert.deepEqual(await waiting('money'), [session])
      },
    )

    verifies(
      ['sessions/waiting-on/until'],
      'a session that asks its model again says when, in its own answer, in lists and in streams',
      async () => {
        const session = await newSession(service, { model: await model() })
        await using stream = await openStream(service, '/v1/ext/stream')
        await stream.untilType('stream.opened')
        const headers = { 'retry-after': '30' }
        const busy = { status: 529, error: 'overloaded_error', message: 'busy', headers }
        stub.replies(busy)
        await post(service, session, 'go')
        await until(async () => (await waitOf(session))?.type === 'model_backoff')
        const wait = await waitOf(session)
        const ms = Date.parse(wait?.until ?? '') - Date.parse(wait?.since ?? '')
        assert.equal(ms, 30_000)
        const path = `/v1/ext/sessions?waiting_on=model_backoff`
        type Page = { data: { id: string; waiting_on: WaitingOn }[] }
        const listed = (await service.ask<Page>('GET', path)).body.data
        assert.deepEqual(
          listed.map(({ id, waiting_on }) => [id, waiting_on?.until]),
          [[session, wait?.until]],
        )
        await stream.until(
          (data) => (data['object'] as Partial<Page['data'][0]>)?.waiting_on?.until === wait?.until,
        )
        await service.raw('POST', `/v1/sessions/${session}/cancel`)
        await until(async () => (await waitOf(session)) === null)
      },
    )

    verifies(
      ['events/ext/waiting-changed'],
      'the stream of a session with extensions says what it waits for, now and at each change',
      async () => {
        const session = await newSession(service, { model: await model(), tools: [...asking] })
        const path = `/v1/sessions/${session}/events/stream`
        await using told = await openStream(service, `${path}?include=chunks`)
        await using plain = await openStream(service, path)
        const changes = () =>
          told.frames
            .filter(({ data }) => data.type === 'session.waiting_changed')
            .map(({ data, id }) => ({ id, waiting: data['waiting_on'] as WaitingOn }))
        await told.untilType('session.waiting_changed')
        assert.deepEqual(changes(), [{ id: undefined, waiting: null }])
        stub.replies(calls(['bash', { command: 'ls' }]))
        const seen = await turn(service, session, 'go')
        const isOf =
          (type: string | undefined) =>
          ({ type: event, waiting_on }: SeenEvent) =>
            event === 'session.waiting_changed' && (waiting_on as WaitingOn)?.type === type
        await told.until(isOf('approval'))
        assert.deepEqual(changes().at(-1)?.waiting, await waitOf(session))
        await using late = await openStream(service, `${path}?include=chunks`)
        await late.until(isOf('approval'))
        stub.replies(saysAtCost('done', { input: 1, output: 1 }))
        const asked = seen.find(({ type }) => type === 'agent.tool_use')
        await post(service, session, {
          type: 'user.tool_confirmation',
          tool_use_id: asked?.id ?? '',
          result: 'deny',
        })
        await late.until(isOf(undefined))
        const all = changes().map(({ waiting }) => JSON.stringify(waiting))
        assert.ok(
          all.every((each, index) => each !== all[index - 1]),
          'each change once',
        )
        await plain.until(
          (data) => data.type === 'session.status_idle' && stopOf(data) === 'end_turn',
        )
        assert.ok(!plain.frames.some(({ data }) => data.type === 'session.waiting_changed'))
        const kept = (await service.ask<SeenEvent[]>('GET', `/v1/sessions/${session}/log`)).body
        assert.ok(!kept.some(({ type }) => type === 'session.waiting_changed'))
      },
    )

    verifies(
      ['sessions/waiting-on/official'],
      'the official client gets no field that it does not know',
      async () => {
        const session = await newSession(service, { model: await model() })
        const shown = await service.client.beta.sessions.retrieve(session)
        assert.ok(!('waiting_on' in shown))
        for await (const each of service.client.beta.sessions.list())
          assert.ok(!('waiting_on' in each))
      },
    )
  })
}
