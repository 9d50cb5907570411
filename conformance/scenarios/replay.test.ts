import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Replay } from '@steward/protocol/replays.ts'
import type { McpHosts } from '../mcp.ts'
import { declareServer, mcpHosts } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, custom, fresh, only, result, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type ReplayedEvent = { type: string; [key: string]: unknown }

const toolset = (config: object = {}) => ({ type: 'agent_toolset_20260401', ...config })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`replays on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    let agent: string
    let session: string
    const mcp = { type: 'mcp_toolset', mcp_server_name: 'orders' }
    const allowed = {
      ...mcp,
      default_config: { permission_policy: { type: 'always_allow' } },
    }
    const tools = [toolset(), custom, allowed]

    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp('api.example')
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
      const made = await service.ask('POST', '/v1/agents', {
        name: fresh('agent'),
        model: 'offline',
        system: 'Be brief.',
        mcp_servers: [declareServer('api.example', 'orders')],
        tools,
      })
      agent = made.body.id
      assert.ok(agent, JSON.stringify(made.body))
      const environment = await service.ask('POST', '/v1/environments', { name: fresh('e') })
      const store = await service.client.beta.memoryStores.create({ name: 'Notes' })
      const opened = await service.ask('POST', '/v1/sessions', {
        agent,
        environment_id: environment.body.id,
        resources: [{ type: 'memory_store', memory_store_id: store.id }],
      })
      session = opened.body.id
      const remember = 'echo kept > /mnt/memory/notes/a.md; cat /mnt/memory/notes/*'
      const first = await turn(service, session, `run: echo one\nrun: ${remember}\nsay: done`)
      assert.match(JSON.stringify(all(first, 'agent.tool_result')), /kept/)
      await turn(service, session, 'call mcp__orders__echo {"text": "hi"}')
      const asked = await turn(service, session, 'call look_up {"what": "x"}')
      await turn(service, session, result(only(asked, 'agent.custom_tool_use').id, 'a wren'))
      await turn(service, session, 'think: hard\nsay: the end')
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    const replay = async (body: object = {}) => {
      const answer = await service.ask<Replay>('POST', '/v1/ext/replays', {
        session_id: session,
        ...body,
      })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    const overriding = (fields: object) => ({
      agent: { type: 'agent_with_overrides', id: agent, version: 1, ...fields },
    })

    verifies(
      ['replays/create', 'replays/same', 'replays/offline'],
      'a session with tools, memory, an MCP server and a custom tool goes as it went',
      async () => {
        const asked = hosts.noted.length
        const found = await replay()
        assert.deepEqual(
          [found.status, found.divergence, found.turns, found.changes, found.ended_early],
          ['same', null, 5, [], null],
        )
        assert.equal(hosts.noted.length, asked, 'nothing goes out')
        const { changes, status } = await replay(
          overriding({ system: 'Be long.', model: 'a-model-without-a-key' }),
        )
        assert.equal(status, 'same')
        assert.deepEqual(
          changes.map(({ field, diff }) => [field, diff]),
          [
            ['model', '- offline\n+ a-model-without-a-key'],
            ['system', '- Be brief.\n+ Be long.'],
          ],
        )
      },
    )

    verifies(
      'replays/divergence',
      'the first event that differs ends the replay, and is shown as a difference',
      async () => {
        const without = await replay(
          overriding({
            tools: [toolset({ configs: [{ name: 'bash', enabled: false }] }), custom, mcp],
          }),
        )
        assert.deepEqual([without.status, without.turns], ['diverged', 0])
        const { divergence } = without
        assert.equal(divergence?.recorded?.type, 'agent.tool_result')
        assert.match(divergence?.diff ?? '', /^\+ .*there is no tool named bash/m)
        assert.match(divergence?.diff ?? '', /^- .*one/m)
        assert.deepEqual(
          without.changes.map(({ field }) => field),
          ['tools'],
        )
        const asks = await replay(overriding({ tools: [toolset(), custom, mcp] }))
        assert.equal(asks.turns, 1)
        assert.match(asks.divergence?.diff ?? '', /^\+ .*"evaluated_permission": "ask"/m)
      },
    )

    verifies(
      'replays/continue',
      'a new session goes on live from the turn that differs, with the other agent',
      async () => {
        const log = async (id: string) =>
          (await service.ask<ReplayedEvent[]>('GET', `/v1/sessions/${id}/log`)).body
        async function continued(fields: object, type: string) {
          const all = { ...overriding(fields), on_divergence: 'continue' }
          const { continued_session_id: id } = await replay(all)
          let found: ReplayedEvent | undefined
          await until(async () => {
            found = (await log(id ?? '')).find((event) => event.type === type)
            return found !== undefined
          })
          const { body } = await service.ask('GET', `/v1/sessions/${id}`)
          assert.equal((body['forked_from'] as { session_id: string }).session_id, session)
          return { found, log: await log(id ?? '') }
        }
        const noBash = [toolset({ configs: [{ name: 'bash', enabled: false }] }), custom, mcp]
        const first = await continued({ tools: noBash }, 'agent.message')
        assert.ok(
          first.log.every(({ type }) => type !== 'agent.tool_use'),
          'it has no tool to call',
        )
        const ask = await continued({ tools: [toolset(), custom, mcp] }, 'agent.mcp_tool_use')
        assert.equal(ask.found?.['evaluated_permission'], 'ask')
        const results = ask.log.filter(({ type }) => type === 'agent.tool_result')
        assert.equal(results.length, 2, 'the turn before is that of the record')
        const same = await replay({ on_divergence: 'continue' })
        assert.equal(same.continued_session_id, null)
      },
    )

    verifies(
      ['replays/early', 'replays/cloud'],
      'the record ends at an interrupt, and workers have no record',
      async () => {
        const { body } = await service.ask('GET', `/v1/sessions/${session}`)
        const other = await service.ask('POST', '/v1/sessions', {
          agent,
          environment_id: body['environment_id'],
        })
        const id = other.body.id
        await turn(service, id, 'say: first')
        const asked = await turn(service, id, 'call look_up {"what": "x"}')
        assert.ok(only(asked, 'agent.custom_tool_use'))
        await turn(service, id, { type: 'user.interrupt' })
        const found = await replay({ session_id: id })
        assert.deepEqual([found.status, found.turns], ['same', 2])
        assert.match(found.ended_early ?? '', /^a person interrupted the turn at event \d+$/)

        const workers = await service.ask('POST', '/v1/environments', {
          name: fresh('workers'),
          config: { type: 'self_hosted' },
        })
        const plain = await service.ask('POST', '/v1/agents', {
          name: fresh('plain'),
          model: 'offline',
          tools: [],
        })
        const elsewhere = await service.ask('POST', '/v1/sessions', {
          agent: plain.body.id,
          environment_id: workers.body.id,
        })
        const refused = await service.ask('POST', '/v1/ext/replays', {
          session_id: elsewhere.body.id,
        })
        assert.equal(refused.status, 400)
        assert.match(JSON.stringify(refused.body), /self_hosted/)
      },
    )
  })
}
