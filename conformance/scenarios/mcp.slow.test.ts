import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { z } from 'zod'
import type { McpHosts } from '../mcp.ts'
import { declareServer, callTool, errorsOf, mcpHosts, sessionOf } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { PostedEvent } from '../turns.ts'
import { all, idleOf, logOf, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const toolset = (name: string, more: object = {}) => ({
  type: 'mcp_toolset',
  mcp_server_name: name,
  ...more,
})
const confirm = (id: string, result: 'allow' | 'deny', deny_message?: string): PostedEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: id,
  result,
  ...(deny_message === undefined ? {} : { deny_message }),
})
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`MCP servers on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp('api.example', (server) => {
        server.registerTool('picture', { description: 'shows things' }, () => ({
          content: [
            { type: 'image', mimeType: 'image/png', data: pixel },
            { type: 'resource', resource: { uri: 'memo://1', text: 'of a resource' } },
            { type: 'resource_link', uri: 'memo://2', name: 'second' },
          ],
        }))
        server.registerTool(
          'order',
          {
            description: 'takes an order',
            inputSchema: z.object({
              lines: z.array(z.object({ what: z.string(), many: z.number().int() })),
            }),
          },
          ({ lines }) => ({
            content: [
              { type: 'text', text: lines.map(({ what, many }) => `${many} × ${what}`).join() },
            ],
          }),
        )
        server.registerTool('fail', { description: 'fails' }, () => ({
          content: [{ type: 'text', text: 'out of stock' }],
          isError: true,
        }))
      })
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    verifies(
      [
        'mcp/tools/registered',
        'mcp/tools/called',
        'mcp/auth/none',
        'dialects/mcp-tool-name',
        'proxy/caller/harness',
        'auth/in-process',
        'events/type/mcp-tool-use',
        'events/type/mcp-tool-result',
        'tools/permission/mcp-default',
      ],
      'their tools are called by the model, and each call has its result',
      async () => {
        const session = await sessionOf(service, {
          servers: [declareServer('api.example', 'shop')],
        })
        const lines = [{ what: 'tea', many: 2 }]
        const events = await turn(service, session, callTool('mcp__shop__order', { lines }))
        const use = only(events, 'agent.mcp_tool_use')
        const result = only(events, 'agent.mcp_tool_result')
        const kept = only(await logOf(service, session), 'agent.mcp_tool_use')
        assert.equal(kept['name'], 'mcp__shop__order')
        const { name, mcp_server_name, input, evaluated_permission } = use
        assert.deepEqual(
          { name, mcp_server_name, input, evaluated_permission },
          {
            name: 'order',
            mcp_server_name: 'shop',
            input: { lines },
            evaluated_permission: 'allow',
          },
        )
        assert.deepEqual(
          [result['mcp_tool_use_id'], result['is_error'], textOf(result)],
          [use.id, false, '2 × tea'],
        )
        assert.ok(hosts.of('api.example').every(({ authorization }) => authorization === undefined))
        // Arguments that do not fit the schema never reach the tool. The result is the server's own refusal.
        const wrong = await turn(service, session, callTool('mcp__shop__order', { lines: 'tea' }))
        assert.equal(only(wrong, 'agent.mcp_tool_result')['is_error'], true)
        const failed = only(
          await turn(service, session, callTool('mcp__shop__fail')),
          'agent.mcp_tool_result',
        )
        assert.deepEqual([failed['is_error'], textOf(failed)], [true, 'out of stock'])
      },
    )

    verifies(
      ['events/type/mcp-tool-result'],
      'images and resources reach the model as blocks',
      async () => {
        const session = await sessionOf(service, {
          servers: [declareServer('api.example', 'shop')],
        })
        const events = await turn(service, session, callTool('mcp__shop__picture'))
        const { content } = only(events, 'agent.mcp_tool_result')
        const [image, resource, link] = content as { type: string; text?: string }[]
        assert.deepEqual(image, {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: pixel },
        })
        assert.match(resource?.text ?? '', /memo:\/\/1[^]*of a resource/)
        assert.match(link?.text ?? '', /second.*memo:\/\/2/)
        assert.deepEqual(idleOf(events).stop_reason, { type: 'end_turn' })
      },
    )

    verifies(
      ['tools/permission/mcp-default', 'tools/permission/ask'],
      'tools of a server that a toolset names wait for the official client’s confirmation',
      async () => {
        const servers = [declareServer('api.example', 'shop'), declareServer('api.example', 'open')]
        const tools = [toolset('shop', { configs: [{ name: 'fail', enabled: false }] })]
        const session = await sessionOf(service, { servers, tools })
        const asked = await turn(service, session, callTool('mcp__shop__echo', { text: 'hello' }))
        const use = only(asked, 'agent.mcp_tool_use')
        assert.equal(use['evaluated_permission'], 'ask')
        assert.deepEqual(idleOf(asked).stop_reason, {
          type: 'requires_action',
          event_ids: [use.id],
        })
        const allowed = await turn(service, session, confirm(use.id, 'allow'))
        assert.equal(textOf(only(allowed, 'agent.mcp_tool_result')), 'hello')

        const again = await turn(service, session, callTool('mcp__shop__echo', { text: 'no' }))
        const second = only(again, 'agent.mcp_tool_use')
        const denied = await turn(service, session, confirm(second.id, 'deny', 'not today'))
        const result = only(denied, 'agent.mcp_tool_result')
        assert.equal(result['is_error'], true)
        assert.match(textOf(result), /not today/)

        const open = await turn(service, session, callTool('mcp__open__echo', { text: 'free' }))
        assert.equal(only(open, 'agent.mcp_tool_use')['evaluated_permission'], 'allow')
        const off = await turn(service, session, callTool('mcp__shop__fail'))
        assert.equal(all(off, 'agent.mcp_tool_use').length, 0)
      },
    )

    verifies(
      ['tools/permission/mcp-default'],
      'a toolset may allow, and offer only the tools that it enables',
      async () => {
        const only_echo = {
          default_config: { enabled: false },
          configs: [{ name: 'echo', enabled: true, permission_policy: { type: 'always_allow' } }],
        }
        const session = await sessionOf(service, {
          servers: [declareServer('api.example', 'shop')],
          tools: [toolset('shop', only_echo)],
        })
        const said = await turn(service, session, callTool('mcp__shop__echo', { text: 'hello' }))
        assert.equal(textOf(only(said, 'agent.mcp_tool_result')), 'hello')
        const other = await turn(service, session, callTool('mcp__shop__picture'))
        assert.equal(all(other, 'agent.mcp_tool_use').length, 0)
        assert.match(textOf(only(other, 'agent.message')), /picture/)
      },
    )

    verifies(
      ['mcp/stdio/refused', 'errors/case/stdio-on-host'],
      'a server without a url can be declared, and no session is begun with it here',
      async () => {
        const { beta } = service.client
        const stdio = { name: 'local', type: 'stdio', stdio: { command: 'serve', port: 4000 } }
        const agent = await service.ask('POST', '/v1/agents', {
          name: 'with a local server',
          model: 'offline',
          mcp_servers: [stdio],
          tools: [],
        })
        assert.equal(agent.status, 200, JSON.stringify(agent.body))
        const environment = await beta.environments.create({ name: `stdio ${database}` })
        const begin = { agent: agent.body.id, environment_id: environment.id }
        await assert.rejects(beta.sessions.create(begin), /url is required/)
      },
    )

    verifies(
      ['limits/mcp-servers'],
      'twenty are connected side by side, and one more is refused',
      async () => {
        const many = Array.from({ length: 21 }, (_, n) => declareServer(`s${n}.api.example`))
        for (const { url } of many) hosts.mcp(new URL(url).host)
        const session = await sessionOf(service, { servers: many.slice(0, 20) })
        const lines = [0, 19].map((n) => callTool(`mcp__s${n}__echo`, { text: `of ${n}` }))
        const events = await turn(service, session, lines.join('\n'))
        assert.deepEqual(errorsOf(events), [])
        assert.deepEqual(all(events, 'agent.mcp_tool_result').map(textOf), ['of 0', 'of 19'])
        const refused = await service.ask('POST', '/v1/agents', {
          name: 'too many',
          model: 'offline',
          mcp_servers: many,
          tools: [],
        })
        assert.equal(refused.status, 400)
        assert.match(JSON.stringify(refused.body), /mcp_servers/)
      },
    )

    verifies(
      ['errors/case/limited-environment', 'environments/network/mcp'],
      'a limited environment that does not allow them contacts none, on the allowlist or not',
      async () => {
        const servers = [declareServer('quiet.api.example', 'quiet')]
        hosts.mcp('quiet.api.example')
        const session = await sessionOf(service, {
          servers,
          environment: { network: { allowlist: ['quiet.api.example'] } },
        })
        for (const _ of [1, 2]) {
          const events = await turn(service, session, callTool('mcp__quiet__echo', { text: 'x' }))
          const [error = ''] = errorsOf(events)
          assert.match(error, /^mcp_connection_failed_error quiet .*allow_mcp_servers/)
          assert.equal(all(events, 'agent.mcp_tool_use').length, 0)
        }
        assert.deepEqual(hosts.of('quiet.api.example'), [])
        const allowed = await sessionOf(service, {
          servers,
          environment: { network: { allowlist: [] }, allow_mcp_servers: true },
        })
        const events = await turn(service, allowed, callTool('mcp__quiet__echo', { text: 'x' }))
        assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'x')
      },
    )

    verifies(
      ['sessions/update'],
      'an update replaces a session’s servers from the next turn on',
      async () => {
        hosts.mcp('first.api.example')
        hosts.mcp('second.api.example')
        const session = await sessionOf(service, { servers: [declareServer('first.api.example')] })
        const echo = (name: string) => callTool(`mcp__${name}__echo`, { text: name })
        const first = await turn(service, session, echo('first'))
        assert.equal(textOf(only(first, 'agent.mcp_tool_result')), 'first')
        const change = { agent: { mcp_servers: [declareServer('second.api.example')] } }
        const { status } = await service.ask('POST', `/v1/sessions/${session}`, change)
        assert.equal(status, 200)
        const gone = await turn(service, session, echo('first'))
        assert.equal(all(gone, 'agent.mcp_tool_use').length, 0)
        const second = await turn(service, session, echo('second'))
        assert.equal(textOf(only(second, 'agent.mcp_tool_result')), 'second')
      },
    )
  })
}
