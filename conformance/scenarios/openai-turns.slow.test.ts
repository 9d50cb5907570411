/** Turns, items, subagents, artifacts and changes of sessions, by the unmodified `openai` client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { BadRequestError, ConflictError, NotFoundError } from 'openai'
import { startHeldModel } from '../held-model.ts'
import type { McpHosts } from '../mcp.ts'
import { declareServer, callTool, mcpHosts } from '../mcp.ts'
import { newestOpenAI } from '../openai.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh, newSession, post, say, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const message = (text: string): OpenAI.Beta.AgentSessionInputParam => ({
  type: 'agent.session.input.message',
  input: [{ role: 'user', content: [{ type: 'input_text', text }] }],
})

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the content of a session of the OpenAI surface, on ${database}`, () => {
    let service: TestService
    let client: OpenAI
    let agents: OpenAI['beta']['agents']
    let hosts: McpHosts
    before(async () => {
      hosts = await mcpHosts()
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
      client = newestOpenAI(service)
      agents = client.beta.agents
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    const idsOf = async (list: AsyncIterable<{ id: string | null }>): Promise<string[]> => {
      const ids: string[] = []
      for await (const { id } of list) ids.push(id ?? '')
      return ids
    }

    /** Creates a session. Returns the session and the events of its stream up to the end of the turn. */
    async function firstTurn(input: string, environment: object = { type: 'openai_hosted' }) {
      const stream = await agents.sessions.create({
        agent: { model: 'offline' },
        environment: environment as { type: 'openai_hosted' },
        input,
        stream: true,
      })
      const events: OpenAI.Beta.AgentSessionEvent[] = []
      for await (const event of stream) events.push(event)
      const [first] = events
      assert.equal(first?.type, 'agent.session.created')
      return { id: first.session.id, events }
    }

    verifies(
      [
        'openai/turns/list',
        'openai/turns/get',
        'openai/turns/items',
        'openai/items/list',
        'openai/items/kinds',
      ],
      'lists show the turns and items that the stream has sent',
      async () => {
        const { id, events } = await firstTurn('think: hm\nrun: echo one-two\nsay: done')
        await turn(service, id, 'say: second')
        const turns = []
        for await (const each of agents.sessions.turns.list(id, { limit: 1, order: 'asc' }))
          turns.push(each)
        assert.deepEqual(
          turns.map(({ status }) => status),
          ['completed', 'completed'],
        )
        assert.ok(turns.every(({ usage }) => (usage?.total_tokens ?? 0) > 0))
        const newest = await idsOf(agents.sessions.turns.list(id))
        assert.deepEqual(newest, turns.map((each) => each.id).toReversed())
        const [first] = turns
        assert.ok(first)
        const completed = events.find((event) => event.type === 'agent.session.turn.completed')
        assert.deepEqual(completed?.turn, first)
        assert.deepEqual(await agents.sessions.turns.retrieve(first.id, { session_id: id }), first)
        const told = events.flatMap((event) =>
          event.type === 'agent.session.turn.item.done' ? [event] : [],
        )
        const list = { session_id: id, limit: 1, order: 'asc' } as const
        const items = []
        for await (const item of agents.sessions.turns.items.list(first.id, list)) items.push(item)
        const [input, ...outputs] = items
        assert.ok(input?.type === 'message' && input.role === 'user')
        assert.deepEqual(
          outputs,
          told.map(({ item }) => item),
        )
        assert.deepEqual(
          told.map(({ output_index }) => output_index),
          outputs.map((_, index) => index),
        )
        const command = outputs.find(({ type }) => type === 'command_execution')
        assert.ok(command?.type === 'command_execution')
        assert.equal(command.command, 'echo one-two')
        assert.match(command.output ?? '', /one-two/)
        assert.ok(outputs.some(({ type }) => type === 'reasoning'))
        for (const text of ['third', 'fourth', 'fifth']) await turn(service, id, `say: ${text}`)
        const { items: all } = agents.sessions
        const whole = (await all.list(id, { limit: 100, order: 'asc' })).data
        assert.deepEqual(whole.slice(0, items.length), items)
        assert.deepEqual(await Array.fromAsync(all.list(id, { limit: 2, order: 'asc' })), whole)
        assert.deepEqual((await Array.fromAsync(all.list(id, { limit: 2 }))).toReversed(), whole)
        const inOrder = await idsOf(agents.sessions.turns.list(id, { order: 'asc' }))
        assert.deepEqual([...new Set(whole.map((item) => item.turn_id))], inOrder)
        const log = await say(service, id)
        assert.ok(whole.every((each) => log.some((event) => event.id === each.id)))
        await assert.rejects(all.list(id, { after: 'sevt_none' }), BadRequestError)
        await assert.rejects(
          agents.sessions.turns.retrieve('sevt_none', { session_id: id }),
          NotFoundError,
        )
      },
    )

    verifies(
      ['openai/turns/statuses', 'openai/turns/queued'],
      'a turn waits, fails and is cancelled',
      async () => {
        const { id } = await firstTurn('fail: billing')
        const [failed] = (await agents.sessions.turns.list(id)).data
        assert.deepEqual([failed?.status, failed?.error?.code], ['failed', 'billing_not_active'])
        await using held = await startHeldModel(service, 'never said')
        const running = await agents.sessions.create({
          agent: { model: held.model },
          environment: { type: 'none' },
          input: 'go on',
        })
        await held.asked
        await post(service, running.id, 'and on')
        const statuses = (await agents.sessions.turns.list(running.id)).data.map(
          ({ status }) => status,
        )
        assert.deepEqual(statuses, ['queued', 'in_progress'])
        const stream = await agents.sessions.events.stream(running.id)
        await agents.sessions.events.create(running.id, {
          events: [{ type: 'agent.session.input.cancel' }],
        })
        for await (const event of stream) if (event.type === 'agent.session.idle') break
        const [cancelled] = (await agents.sessions.turns.list(running.id)).data
        assert.equal(cancelled?.status, 'cancelled')
      },
    )

    verifies(
      ['openai/events/approvals', 'openai/sessions/required-actions'],
      'a call that asks is approved or denied',
      async () => {
        const toolset = {
          type: 'agent_toolset_20260401',
          default_config: { permission_policy: { type: 'always_ask' } },
        }
        const id = await newSession(service, { tools: [toolset] })
        for (const [decision, expected] of [
          ['approve', /one-two/],
          ['deny', /denied|refused|not allowed|reject/i],
        ] as const) {
          await turn(service, id, 'run: echo one-two')
          const session = await agents.sessions.retrieve(id)
          assert.equal(session.status, 'requires_action')
          const [action] = session.required_actions
          assert.ok(action?.type === 'mcp_approval_request')
          const stream = await agents.sessions.events.stream(id)
          await agents.sessions.events.create(id, {
            events: [
              {
                type: 'agent.session.input.mcp_approval_request_result',
                request_id: action.request_id,
                response: { type: 'mcp_tool_call', decision },
              },
            ],
          })
          for await (const event of stream) if (event.type === 'agent.session.idle') break
          const items = (await agents.sessions.items.list(id)).data
          const command = items.find(({ type }) => type === 'command_execution')
          assert.ok(command?.type === 'command_execution')
          assert.match(command.output ?? '', expected)
          assert.equal((await agents.sessions.retrieve(id)).status, 'idle')
        }
      },
    )

    verifies(
      ['openai/events/approvals', 'openai/credentials', 'openai/sessions/required-actions'],
      'a call of an MCP server waits for its approval, and uses the credential of a vault',
      async () => {
        const host = 'approved.api.example'
        hosts.mcp(host)
        const { id: vault } = await agents.vaults.create({})
        await agents.vaults.credentials.create(vault, {
          name: 'of the server',
          auth: {
            type: 'static_bearer',
            token: 'of-the-vault',
            mcp_server_url: declareServer(host).url,
          },
        })
        const asks = { permission_policy: { type: 'always_ask' as const } }
        const { id: agent_id } = await service.client.beta.agents.create({
          name: fresh('agent'),
          model: 'offline',
          mcp_servers: [declareServer(host)],
          tools: [{ type: 'mcp_toolset', mcp_server_name: 'approved', default_config: asks }],
        })
        const stream = await agents.sessions.create({
          agent_id,
          environment: { type: 'none' },
          vault_ids: [vault],
          input: callTool('mcp__approved__echo', { text: 'hello' }),
          stream: true,
        })
        const actions: (string | null)[][] = []
        const done: OpenAI.Beta.AgentSessionItem[] = []
        for await (const event of stream) {
          if (event.type === 'agent.session.turn.item.done') done.push(event.item)
          if (event.type !== 'agent.session.requires_action') continue
          const [action] = event.session.required_actions
          assert.ok(action?.type === 'mcp_approval_request')
          assert.ok(action.request.type === 'mcp_tool_call')
          actions.push([action.request.server_label, action.request.name])
          const response = { type: 'mcp_tool_call', decision: 'approve' } as const
          const approval = 'agent.session.input.mcp_approval_request_result'
          await agents.sessions.events.create(event.session.id, {
            events: [{ type: approval, request_id: action.request_id, response }],
          })
        }
        assert.deepEqual(actions, [['approved', 'echo']])
        const [made] = done.filter((item) => item.type === 'mcp_call')
        assert.deepEqual([made?.status, made?.output, made?.error], ['completed', 'hello', null])
        const seen = hosts.of(host).map(({ authorization }) => authorization)
        assert.deepEqual([...new Set(seen)], ['Bearer of-the-vault'])
      },
    )

    verifies(['openai/events/idempotency'], 'a request with a key is done once', async () => {
      const { id } = await firstTurn('say: first', { type: 'none' })
      const key = fresh('key')
      const send = (text: string) =>
        agents.sessions.events.create(id, { events: [message(text)], 'Idempotency-Key': key })
      await send('say: once')
      await send('say: once')
      await assert.rejects(send('say: another'), ConflictError)
      const log = await say(service, id)
      const waiting = (await agents.sessions.turns.list(id)).data
      assert.equal(waiting.length, 2)
      assert.ok(log.filter(({ type }) => type === 'user.message').length <= 2)
    })

    verifies(
      ['openai/sessions/list', 'openai/sessions/update', 'openai/sessions/spend-control'],
      'sessions are found by their metadata, and changed',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        const mark = fresh('mark')
        const made = []
        for (const ticket of ['1', '2'])
          made.push(
            await agents.sessions.create({
              agent: { model },
              environment: { type: 'openai_hosted' },
              metadata: { ticket, mark },
            }),
          )
        const [first, second] = made
        assert.ok(first && second)
        const found = await idsOf(
          agents.sessions.list({ metadata: { mark }, limit: 1, order: 'asc' }),
        )
        assert.deepEqual(found, [first.id, second.id])
        assert.deepEqual(await idsOf(agents.sessions.list({ metadata: { mark, ticket: '2' } })), [
          second.id,
        ])
        assert.deepEqual(await idsOf(agents.sessions.list({ agent_id: first.agent.id })), [
          first.id,
        ])
        const changed = await agents.sessions.update(first.id, {
          metadata: { mark: 'x' },
          spend_control: { limit: 500 },
          agent: { reasoning: { effort: 'high' } },
        })
        assert.deepEqual(changed.metadata, { mark: 'x' })
        assert.equal(changed.spend_control?.limit, 500)
        assert.equal(changed.agent.reasoning.effort, 'high')
        assert.deepEqual(await idsOf(agents.sessions.list({ metadata: { mark } })), [second.id])
        for (const limit of [200, 900])
          assert.equal(
            (await agents.sessions.update(first.id, { spend_control: { limit } })).spend_control
              ?.limit,
            limit,
          )
        const without = await agents.sessions.update(first.id, { spend_control: { limit: null } })
        assert.equal(without.spend_control, undefined)
        await agents.sessions.delete(second.id)
        assert.deepEqual(await idsOf(agents.sessions.list({ metadata: { mark } })), [])
      },
    )

    verifies(
      'openai/artifacts/list',
      'an artifact is of the turn that has written it, also when another message waits',
      async () => {
        await using stub = await startStub(anthropicDialect)
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const command = JSON.stringify({ command: 'echo x > /mnt/session/outputs/x.txt' })
        const text = (pieces: string): StubAnswer => ({
          ...{ blocks: [{ type: 'text', pieces: [pieces] }], stop: 'end_turn' },
        })
        stub.replies(
          {
            blocks: [{ type: 'tool_call', id: 'toolu_1', name: 'bash', pieces: [command] }],
            stop: 'tool_use',
          },
          {
            answer: text('written'),
            hold() {
              asked.resolve()
              return released.promise
            },
          },
          text('the second'),
        )
        const environment = { type: 'openai_hosted' } as const
        const { id } = await agents.sessions.create({
          ...{ agent: { model }, environment, input: 'write' },
        })
        await asked.promise
        await post(service, id, 'and on')
        released.resolve()
        const turns = async () => (await agents.sessions.turns.list(id, { order: 'asc' })).data
        await until(async () => {
          const all = await turns()
          return all.length === 2 && all.every(({ status }) => status === 'completed')
        })
        const [first] = await turns()
        const [artifact] = (await agents.sessions.artifacts.list(id)).data
        assert.equal(artifact?.turn_id, first?.id)
      },
    )

    verifies(
      [
        'openai/artifacts/list',
        'openai/artifacts/get',
        'openai/artifacts/content',
        'openai/artifacts/delete',
      ],
      'a file that a session has published is an artifact, with its bytes',
      async () => {
        const { id } = await firstTurn('run: echo forty-two > /mnt/session/outputs/answer.txt')
        const [artifact] = (await agents.sessions.artifacts.list(id)).data
        assert.ok(artifact)
        assert.equal(artifact.path, '/workspace/outputs/answer.txt')
        assert.deepEqual(await idsOf(agents.sessions.turns.list(id)), [artifact.turn_id])
        const of = { session_id: id }
        assert.deepEqual(await agents.sessions.artifacts.retrieve(artifact.id, of), artifact)
        const content = await agents.sessions.artifacts.content(artifact.id, of)
        assert.equal(await content.text(), 'forty-two\n')
        assert.equal((await agents.sessions.artifacts.delete(artifact.id, of)).deleted, true)
        assert.deepEqual((await agents.sessions.artifacts.list(id)).data, [])
        const lines = await service.ask('GET', `/v1/ext/audit?resource_id=${artifact.id}`)
        assert.deepEqual(
          lines.body.data.map((line) => (line as { action?: string }).action),
          ['file.delete'],
        )
      },
    )
  })
}
