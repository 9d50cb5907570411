import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { mcpClient } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { systemClock } from '@steward/base/time.ts'
import { openStream } from '../reader.ts'
import type { McpHosts } from '../mcp.ts'
import { declareServer, callTool, mcpHosts, sessionOf, until, vaultOf } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { only, post, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const host = 'child.api.example'
const canary = `canary-${crypto.randomUUID()}`
const toolset = { type: 'agent_toolset_20260401' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the proxy for local children on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    let session: string
    let aheadMs = 0
    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp(host)
      hosts.mcp('other.api.example')
      const clock = { ...systemClock, now: () => Date.now() + aheadMs }
      service = await boot(database, { overrides: { nameOverride: hosts.outside, clock } })
      const vault = await vaultOf(service, {
        type: 'static_bearer',
        token: canary,
        mcp_server_url: `https://${host}/mcp`,
      })
      session = await sessionOf(service, {
        servers: [declareServer(host), declareServer('other.api.example')],
        tools: [toolset],
        vault_ids: [vault],
      })
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    const path = (name = 'child', of = session) => `/v1/ext/mcp-proxy/${of}/${name}`
    /** Authorizes with the Bearer value only. */
    const asked = (bearer: string, to = path()) =>
      fetch(service.base + to, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      })
    const mint = async (of = session) => {
      const minted = await service.ask<{ token: string }>('POST', `${path('child', of)}/token`)
      assert.equal(minted.status, 201)
      return minted.body.token
    }
    type ProxyLogLine = Record<string, unknown>
    const records = (of = session) =>
      service.logged
        .map((line) => JSON.parse(line) as ProxyLogLine)
        .filter((entry) => entry['op'] === 'mcp_proxy.forward' && entry['session_id'] === of)

    verifies(
      ['proxy/caller/local-child', 'auth/local-child', 'secrets/mcp-tokens'],
      'the official MCP client works by a workspace key, and by a token for this server alone',
      async () => {
        for (const bearer of [adminKey, await mint()]) {
          const seen = hosts.of(host).length
          {
            await using client = await mcpClient(service.base + path(), bearer)
            const { tools } = await client.listTools()
            assert.deepEqual(
              tools.map(({ name }) => name),
              ['echo'],
            )
            const said = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
            assert.deepEqual(said.content, [{ type: 'text', text: 'hello' }])
          }
          const requests = hosts.of(host).slice(seen)
          const methods = new Set(requests.map(({ method }) => method))
          assert.deepEqual([...methods].toSorted(), ['DELETE', 'GET', 'POST'])
          const sent = new Set(requests.map(({ authorization }) => authorization))
          assert.deepEqual([...sent], [`Bearer ${canary}`])
        }
        assert.ok(!service.logged.join().includes(canary))
      },
    )

    verifies(
      ['proxy/caller/local-child', 'secrets/mcp-tokens'],
      'a request of another server, session or workspace reaches nothing',
      async () => {
        const other = await service.otherWorkspace('stranger')
        const elsewhere = await sessionOf(service, { servers: [declareServer(host)] })
        const token = await mint()
        const before = hosts.noted.length
        const [head = '', signature = ''] = token.split('.')
        const forged = `${head}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`
        const statuses = await Promise.all(
          [
            asked(token, path('other')),
            asked(token, path('child', elsewhere)),
            asked(await mint(elsewhere)),
            asked(forged),
            asked('nonsense'),
            asked(other.key),
            asked(adminKey, path('nobody')),
            asked(adminKey, path('child', 'sesn_nobody')),
            fetch(service.base + path(), { method: 'POST', headers: { 'x-api-key': token } }),
          ].map(async (answer) => (await answer).status),
        )
        assert.deepEqual(statuses, [401, 401, 401, 401, 401, 404, 404, 404, 401])
        assert.equal((await asked(token, '/v1/agents')).status, 401)
        aheadMs += 15 * 60_000
        assert.equal((await asked(token)).status, 401)
        assert.equal(hosts.noted.length, before)
      },
    )

    verifies(
      ['proxy/body-streams', 'limits/outbound-body'],
      'answers stream as they come, binary or not',
      async () => {
        const own = 'streams.api.example'
        let send: ReadableStreamDefaultController | undefined
        hosts.set(own, () => {
          const body = new ReadableStream({
            start(controller) {
              send = controller
            },
          })
          return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
        })
        const id = await sessionOf(service, { servers: [declareServer(own)] })
        const answer = await asked(adminKey, path('streams', id))
        const reader = answer.body?.getReader()
        for (const piece of [Buffer.from('data: 1\n\n'), Buffer.from([0, 255, 254, 10])]) {
          send?.enqueue(piece)
          assert.deepEqual(Buffer.from((await reader?.read())?.value ?? []), piece)
        }
        send?.close()
        assert.equal((await reader?.read())?.done, true)
      },
    )

    verifies(
      [
        'proxy/logged',
        'proxy/log/op',
        'proxy/log/caller',
        'proxy/log/ids',
        'proxy/log/server',
        'proxy/log/host',
        'proxy/log/method',
        'proxy/log/status',
        'proxy/log/refreshed',
        'proxy/log/ms',
      ],
      'each call has one record with these fields, whoever made it and however it ended',
      async () => {
        const tenant = records()[0]?.['tenant_id']
        const vault = await vaultOf(service, {
          type: 'static_bearer',
          token: canary,
          mcp_server_url: `https://${host}/mcp`,
        })
        const own = await sessionOf(service, {
          servers: [declareServer(host)],
          tools: [toolset],
          vault_ids: [vault],
          environment: {
            network: { allowlist: [host, 'api.example'] },
            allow_mcp_servers: true,
          },
        })
        await asked(adminKey, path('child', own))
        const curl = (to: string) => `run: curl -sk -m 5 -o /dev/null https://${to}/x; true`
        await turn(service, own, callTool('mcp__child__echo', { text: 'hello' }))
        await turn(
          service,
          own,
          [curl(host), curl('api.example'), curl('other.example')].join('\n'),
        )
        // The service writes a tunnel's record when both ends have closed the tunnel.
        await until(() => records(own).filter(({ method }) => method === 'CONNECT').length === 2)
        const seen = records(own)
        for (const entry of seen) {
          const { time: _time, level: _level, message: _message, ...rest } = entry
          assert.deepEqual(Object.keys(rest).toSorted(), [
            'caller',
            'host',
            'method',
            'ms',
            'op',
            'refreshed',
            'server',
            'session_id',
            'status',
            'tenant_id',
          ])
          assert.deepEqual(
            [rest['op'], rest['tenant_id'], rest['refreshed'], typeof rest['ms']],
            ['mcp_proxy.forward', tenant, false, 'number'],
          )
        }
        const of = (caller: string) =>
          seen
            .filter((entry) => entry['caller'] === caller)
            .map((entry) => [entry['server'], entry['host'], entry['method'], entry['status']])
        assert.deepEqual(of('http'), [['child', host, 'POST', 406]])
        const harness = of('rpc-mcp')
        assert.ok(harness.every(([server, at]) => server === 'child' && at === host))
        assert.ok(harness.some(([, , method, status]) => method === 'POST' && status === 200))
        assert.deepEqual(
          of('rpc-outbound').toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
          [
            ['api.example', 'api.example', 'CONNECT', 200],
            [host, host, 'GET', 406],
            ['other.example', 'other.example', 'CONNECT', 403],
          ],
        )
      },
    )

    verifies(
      ['proxy/no-quota', 'limits/proxy-quota'],
      'no call is refused for its number',
      async () => {
        const own = await sessionOf(service, { servers: [declareServer(host)] })
        const many = 300
        for (let round = 0; round < many; round += 30) {
          const answers = Array.from({ length: 30 }, () => asked(adminKey, path('child', own)))
          for (const answer of await Promise.all(answers)) await answer.arrayBuffer()
        }
        assert.equal(records(own).length, many)
      },
    )

    verifies(
      ['proxy/caller/local-child'],
      'a child works beside the turn that began it, and not when the session is archived',
      async () => {
        const own = await sessionOf(service, { servers: [declareServer(host)] })
        const stream = `/v1/sessions/${own}/events/stream`
        await using reader = await openStream(service, stream)
        await post(service, own, `wait: 300\n${callTool('mcp__child__echo', { text: 'turn' })}`)
        {
          await using client = await mcpClient(service.base + path('child', own), adminKey)
          const said = await client.callTool({ name: 'echo', arguments: { text: 'child' } })
          assert.deepEqual(said.content, [{ type: 'text', text: 'child' }])
        }
        const frames = await reader.untilType('session.status_idle')
        const events = frames.map(({ data }) => data)
        assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'turn')
        await service.client.beta.sessions.archive(own)
        assert.equal((await asked(adminKey, path('child', own))).status, 403)
      },
    )
  })
}
