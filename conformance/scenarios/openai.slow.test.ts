/** The unmodified `openai` client drives `/openai/v1`. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai'
import { startHeldModel } from '../held-model.ts'
import type { OpenAIEvent } from '../openai.ts'
import { newestOpenAI, oldestOpenAI, typesOf } from '../openai.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom, fresh, only, say, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const lookUp = {
  type: 'function',
  name: 'look_up',
  description: 'looks something up',
  parameters: { type: 'object', properties: { what: { type: 'string' } } },
} as const

const orderOfTurn = [
  'turn.created',
  'turn.in_progress',
  'in_progress',
  'turn.item.added',
  'turn.content_part.added',
  'turn.output_text.delta',
  'turn.output_text.done',
  'turn.content_part.done',
  'turn.item.done',
  'turn.completed',
  'idle',
]

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the OpenAI surface on ${database}`, () => {
    let service: TestService
    let agents: OpenAI['beta']['agents']
    let client: OpenAI
    before(async () => {
      service = await boot(database)
      client = newestOpenAI(service)
      agents = client.beta.agents
    })
    after(() => service.close())

    const newAgent = (fields: object = {}) =>
      agents.create({ model: 'offline', name: fresh('agent'), ...fields })

    verifies(
      [
        'openai/agents/create',
        'openai/agents/get',
        'openai/agents/update',
        'openai/agents/delete',
        'openai/agents/model',
        'openai/agents/tools',
        'openai/times',
      ],
      'an agent is made, changed and deleted',
      async () => {
        const mcp = {
          type: 'mcp',
          server_label: 'tracker',
          transport: { type: 'http', server_url: 'https://mcp.example.com/mcp' },
          allowed_tools: ['find'],
        } as const
        const made = await newAgent({
          instructions: 'Be brief.',
          reasoning: { effort: 'minimal' },
          tools: [lookUp, mcp, { type: 'web_search', allowed_domains: ['example.com'] }],
          metadata: { team: 'a', more: 'b' },
        })
        assert.equal(made.object, 'agent')
        assert.equal(made.reasoning.effort, 'low')
        assert.ok(Number.isInteger(made.created_at))
        assert.deepEqual(made.tools.map(({ type }) => type).toSorted(), [
          'function',
          'mcp',
          'web_search',
        ])
        const found = await agents.retrieve(made.id)
        assert.deepEqual(found, made)
        const kept = await service.client.beta.agents.retrieve(made.id)
        assert.equal(kept.system, 'Be brief.')
        assert.deepEqual(kept.tools.map(({ type }) => type).toSorted(), [
          'agent_toolset_20260401',
          'custom',
          'mcp_toolset',
        ])
        const changed = await agents.update(made.id, {
          name: null,
          metadata: { team: 'c' },
          reasoning: { effort: 'high' },
          tools: [lookUp],
        })
        assert.equal(changed.name, null)
        assert.deepEqual(changed.metadata, { team: 'c' })
        assert.equal(changed.reasoning.effort, 'high')
        assert.equal(changed.instructions, 'Be brief.')
        assert.deepEqual(
          changed.tools.map(({ type }) => type),
          ['function'],
        )
        assert.deepEqual(await agents.delete(made.id), {
          id: made.id,
          deleted: true,
          object: 'agent.deleted',
        })
        await assert.rejects(agents.retrieve(made.id), NotFoundError)
      },
    )

    verifies(
      ['openai/agents/list', 'openai/lists'],
      'lists go on behind the last item, by either client and one by one',
      async () => {
        const made = [await newAgent(), await newAgent(), await newAgent()]
        const ids = made.map(({ id }) => id)
        for (const each of [client, oldestOpenAI(service)]) {
          const found: string[] = []
          for await (const { id } of each.beta.agents.list({ limit: 1, order: 'asc' }))
            found.push(id)
          assert.deepEqual(
            found.filter((id) => ids.includes(id)),
            ids,
          )
        }
        const page = await agents.list({ limit: 2 })
        assert.deepEqual(
          page.data.map(({ id }) => id),
          ids.toReversed().slice(0, 2),
        )
        assert.equal(page.has_more, true)
        const asked = { after: '', limit: 100, order: 'asc' } as const
        const others = { organization: 'nobody', project: 'nothing' }
        const answer = await client.withOptions(others).beta.agents.list(asked).asResponse()
        type ObjectList = { data: { id: string }[]; first_id: string; last_id: string }
        const { data, first_id, last_id } = (await answer.json()) as ObjectList
        assert.equal(data.at(-1)?.id, ids.at(-1))
        assert.deepEqual([first_id, last_id], [data[0]?.id, ids.at(-1)])
        assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
        assert.equal(answer.headers.get('x-request-id'), answer.headers.get('request-id'))
        await assert.rejects(agents.list({ after: 'agent_none' }), NotFoundError)
      },
    )

    verifies(
      [
        'openai/sessions/create',
        'openai/sessions/get',
        'openai/events/order',
        'openai/events/ids',
        'openai/one-truth',
        'service/paths/openai',
        'versions/openai',
      ],
      'a session is created with its first turn as a stream, by either client',
      async () => {
        const agent = await newAgent()
        const asked = {
          agent_id: agent.id,
          environment: { type: 'none' },
          input: 'say: hello there',
          metadata: { ticket: '7' },
          stream: true,
        } as const
        const streams: AsyncIterable<OpenAIEvent>[] = [
          await agents.sessions.create(asked),
          await oldestOpenAI(service).beta.agents.sessions.create(asked),
        ]
        for (const stream of streams) {
          const seen: OpenAIEvent[] = []
          for await (const event of stream) seen.push(event)
          assert.deepEqual(typesOf(seen), ['created', ...orderOfTurn])
          const events = new Set(seen.map(({ event_id }) => event_id))
          assert.equal(events.size, seen.length)
          const [first] = seen
          assert.equal(first?.type, 'agent.session.created')
          const { id } = first.session
          const session = await agents.sessions.retrieve(id)
          assert.equal(session.status, 'idle')
          assert.deepEqual(session.metadata, { ticket: '7' })
          assert.deepEqual(session.environment, { type: 'none' })
          assert.ok((session.usage?.total_tokens ?? 0) > 0)
          const log = await say(service, id)
          const message = only(log, 'agent.message')
          assert.equal(textOf(message), 'hello there')
          const done = seen.find((event) => event.type === 'agent.session.turn.item.done')
          assert.equal(done?.item.id, message.id)
          const created = seen.find((event) => event.type === 'agent.session.turn.created')
          assert.equal(created?.turn_id, only(log, 'user.message').id)
          assert.equal(created.turn.subagent_id, null)
        }
      },
    )

    verifies(
      ['openai/events/functions', 'openai/events/post', 'openai/events/stream'],
      'functions of a client are called, over a stream of its own and over that of a creation',
      async () => {
        const agent = await newAgent({ tools: [lookUp] })
        const asked: unknown[] = []
        const toolHandlers = {
          look_up(input: unknown) {
            asked.push(input)
            return 'forty-two'
          },
        }
        const input = 'call look_up {"what": "answer"}'
        const created = await agents.sessions.create({
          agent_id: agent.id,
          environment: { type: 'none' },
          input,
          stream: true,
          toolHandlers,
        })
        const first = await created.finalResult()
        assert.match(first.output_text, /forty-two/)
        const streamed = agents.sessions.stream(first.session_id, { input, toolHandlers })
        const second = await streamed.finalResult()
        assert.match(second.output_text, /forty-two/)
        assert.deepEqual(asked, [{ what: 'answer' }, { what: 'answer' }])
        const stray = {
          type: 'agent.session.input.tool_result',
          turn_id: 'sevt_none',
          call_id: 'sevt_none',
          success: true,
          output: 'x',
        } as const
        await assert.rejects(
          agents.sessions.events.create(first.session_id, { events: [stray] }),
          (error: unknown) =>
            error instanceof BadRequestError &&
            error.code === 'invalid_request_error' &&
            (error.error as Error).message === 'Unknown pending tool call: sevt_none',
        )
      },
    )

    verifies(
      ['openai/sessions/inline-agent', 'openai/sessions/environment'],
      'an agent and an environment are given for one session alone',
      async () => {
        const created = await agents.sessions.create({
          agent: { model: 'offline', instructions: 'Be brief.' },
          environment: {
            type: 'openai_hosted',
            env: { WORD: 'from-the-environment' },
            network: { access: 'disabled' },
          },
          input: 'run: echo $WORD',
          stream: true,
        })
        const result = await created.finalResult()
        assert.match(result.output_text, /from-the-environment/)
        const session = await agents.sessions.retrieve(result.session_id)
        assert.equal(session.environment.type, 'openai_hosted')
        const { environment_id } = await service.client.beta.sessions.retrieve(session.id)
        const listed = []
        for await (const { id } of service.client.beta.environments.list()) listed.push(id)
        assert.ok(!listed.includes(environment_id))
        const bare = { environment: { type: 'none' }, input: 'run: echo hi', stream: true } as const
        const none = await agents.sessions.create({ agent: { model: 'offline' }, ...bare })
        assert.doesNotMatch((await none.finalResult()).output_text, /^hi$/m)
      },
    )

    verifies(
      'openai/one-truth',
      'a session of the other surface is driven on this one',
      async () => {
        const agent = await service.client.beta.agents.create({
          name: fresh('agent'),
          model: 'offline',
          tools: [custom],
        })
        const environment = await service.client.beta.environments.create({ name: fresh('e') })
        const { id } = await service.client.beta.sessions.create({
          agent: agent.id,
          environment_id: environment.id,
        })
        const toolHandlers = { look_up: () => 'by the other client' }
        const input = 'call look_up {"what": "x"}'
        const { output_text } = await agents.sessions
          .stream(id, { input, toolHandlers })
          .finalResult()
        assert.match(output_text, /by the other client/)
        assert.match(
          textOf(only(await turn(service, id, 'say: and back'), 'agent.message')),
          /and back/,
        )
      },
    )

    verifies(
      ['openai/sessions/delete', 'openai/events/comments'],
      'a session that runs is not deleted; cancelled, it is',
      async () => {
        await using held = await startHeldModel(service, 'never said')
        const { id } = await agents.sessions.create({
          agent: { model: held.model },
          environment: { type: 'none' },
          input: 'go on',
        })
        await held.asked
        const options = { include_obfuscation: false }
        const stream = await agents.sessions.events.stream(id, options, undefined)
        await assert.rejects(agents.sessions.delete(id), ConflictError)
        await agents.sessions.events.create(id, {
          events: [{ type: 'agent.session.input.cancel' }],
        })
        for await (const event of stream) {
          if (event.type === 'agent.session.turn.cancelled')
            assert.equal(event.turn.status, 'cancelled')
          if (event.type === 'agent.session.idle') break
        }
        const raw = await service.raw('GET', `/openai/v1/agents/sessions/${id}/events`)
        const reader = raw.body?.getReader()
        const first = new TextDecoder().decode((await reader?.read())?.value)
        assert.match(first, /^: /)
        await reader?.cancel()
        assert.equal((await agents.sessions.delete(id)).deleted, true)
        await assert.rejects(agents.sessions.retrieve(id), NotFoundError)
      },
    )

    verifies(
      ['openai/errors', 'openai/refusals', 'openai/described'],
      'a refusal names the field, in the words of the client',
      async () => {
        const environment = { type: 'none' } as const
        const agent = { model: 'offline' }
        const cases: [object, string, RegExp][] = [
          [
            { agent, environment: { type: 'self_hosted', workspace_directory: '/x' }, input: 'x' },
            'environment.type',
            /worker/,
          ],
          [{ agent, environment, input: 'x', colour: 'red' }, 'colour', /unknown field/],
          [{ agent, environment }, 'input', /required/],
          [{ environment, input: 'x' }, 'agent_id', /required/],
          [
            { agent: { ...agent, tools: [{ type: 'computer_use' }] }, environment, input: 'x' },
            'agent.tools.0.type',
            /computer_use/,
          ],
          [
            { agent, environment: { type: 'openai_hosted', plugins: [{}] }, input: 'x' },
            'environment.plugins',
            /skill/,
          ],
        ]
        for (const [body, param, message] of cases) {
          const made = client.post('/agents/sessions', { body })
          await assert.rejects(made, (error: unknown) => {
            assert.ok(error instanceof BadRequestError)
            assert.equal(error.param, param, error.message)
            assert.match(error.message, message)
            assert.deepEqual(
              [error.code, error.type],
              ['invalid_request_error', 'invalid_request_error'],
            )
            assert.match(error.requestID ?? '', /^req_/)
            return true
          })
        }
        const answer = await fetch(`${service.base}/openai/v1/openapi.json`)
        const { paths } = (await answer.json()) as { paths: Record<string, unknown> }
        assert.ok('/openai/v1/agents/sessions/{id}/events' in paths)
        const missing = { status: 404, code: 'not_found_error', message: /there is no GET/ }
        await assert.rejects(client.models.list(), missing)
        const stranger = client.withOptions({ apiKey: 'wrong' })
        await assert.rejects(stranger.beta.agents.list(), AuthenticationError)
        await assert.rejects(stranger.beta.agents.list(), { code: 'unauthorized' })
        const reads = { name: fresh('key'), read_only: true }
        const { body } = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', reads)
        const reader = newestOpenAI(service, body.key).beta.agents
        await assert.rejects(reader.create({ model: 'offline' }), PermissionDeniedError)
        await assert.rejects(reader.create({ model: 'offline' }), { code: 'forbidden' })
        const metadata = { a: 'x'.repeat(600) }
        const tooLong = agents.create({ model: 'offline', metadata })
        await assert.rejects(tooLong, { code: 'invalid_request_error', param: 'metadata.a' })
      },
    )
  })
}
