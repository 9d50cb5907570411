import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { authorizationServer } from '@steward/server/engine/egress/fixture.ts'
import type { McpHosts } from '../mcp.ts'
import { declareServer, callTool, errorsOf, mcpHosts, sessionOf, vaultOf } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, logOf, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const canary = () => `canary-${crypto.randomUUID()}`
const bearer = (token: string, mcp_server_url: string) => ({
  type: 'static_bearer',
  token,
  mcp_server_url,
})
const echo = (server: string) => callTool(`mcp__${server}__echo`, { text: 'hello' })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`MCP servers that want credentials, on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    let oauth: Awaited<ReturnType<typeof authorizationServer>>
    before(async () => {
      oauth = await authorizationServer()
      hosts = await mcpHosts({ 'auth.example': oauth })
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await oauth[Symbol.asyncDispose]()
      await service.close()
    })

    /** The one Authorization that the host has seen. */
    function bearerAt(host: string): string | undefined {
      const seen = new Set(hosts.of(host).map(({ authorization }) => authorization))
      assert.equal(seen.size, 1, [...seen].join())
      return [...seen][0]
    }

    async function says(session: string, server: string): Promise<void> {
      const events = await turn(service, session, echo(server))
      assert.deepEqual(errorsOf(events), [])
      assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'hello')
    }

    verifies(
      ['mcp/auth/inline', 'agents/mcp/field/authorization-token'],
      'an inline token comes before a vault, of the agent or of the session, and is never shown',
      async () => {
        const [own, override, vaulted] = [canary(), canary(), canary()]
        const [first, second] = ['inline.api.example', 'override.api.example']
        for (const host of [first, second]) hosts.mcp(host)
        const vault = await vaultOf(
          service,
          bearer(vaulted, `https://${first}/mcp`),
          bearer(canary(), `https://${second}/mcp`),
        )
        const session = await sessionOf(service, {
          servers: [{ ...declareServer(first), authorization_token: own }],
          vault_ids: [vault],
        })
        await says(session, 'inline')
        assert.equal(bearerAt(first), `Bearer ${own}`)

        const over = await sessionOf(service, {
          servers: [{ ...declareServer(second), authorization_token: own }],
          vault_ids: [vault],
          overrides: { mcp_servers: [{ ...declareServer(second), authorization_token: override }] },
        })
        await says(over, 'override')
        assert.equal(bearerAt(second), `Bearer ${override}`)

        const shown = await Promise.all(
          [session, over].flatMap((id) => [
            service.ask('GET', `/v1/sessions/${id}`),
            logOf(service, id),
          ]),
        )
        const everything = JSON.stringify([shown, service.logged])
        for (const token of [own, override, vaulted]) assert.ok(!everything.includes(token))
      },
    )

    verifies(
      ['mcp/auth/inline', 'sessions/update/tools-local'],
      'a session’s update sends another token to the same server, from the next turn on',
      async () => {
        const [first, second] = [canary(), canary()]
        const host = 'renewed.api.example'
        hosts.mcp(host)
        const session = await sessionOf(service, {
          servers: [{ ...declareServer(host), authorization_token: first }],
        })
        await says(session, 'renewed')
        const seen = hosts.of(host).length
        const mcp_servers = [{ ...declareServer(host), authorization_token: second }]
        const change = { agent: { mcp_servers } }
        const { status } = await service.ask('POST', `/v1/sessions/${session}`, change)
        assert.equal(status, 200)
        await says(session, 'renewed')
        const sent = hosts.of(host).slice(seen)
        const asked = sent.filter(({ method }) => method === 'POST')
        assert.deepEqual(
          [...new Set(asked.map(({ authorization }) => authorization))],
          [`Bearer ${second}`],
        )
      },
    )

    verifies(
      [
        'mcp/auth/static-bearer',
        'proxy/match/mcp',
        'proxy/lookup-every-call',
        'credentials/match/order',
        'credentials/bound-not-vault',
      ],
      'a vault’s bearer is chosen by the whole URL, then by the host in the order of the vaults',
      async () => {
        const [host, other] = ['static.api.example', 'shared.api.example']
        for (const each of [host, other]) hosts.mcp(each)
        const tokens = { host: canary(), exact: canary(), first: canary(), second: canary() }
        const vault_ids = [
          await vaultOf(
            service,
            bearer(tokens.host, `https://${host}/other`),
            bearer(tokens.first, `https://${other}/a`),
          ),
          await vaultOf(
            service,
            bearer(tokens.exact, `https://${host}/mcp`),
            bearer(tokens.second, `https://${other}/b`),
          ),
        ]
        const session = await sessionOf(service, {
          servers: [declareServer(host), declareServer(other)],
          vault_ids,
        })
        await says(session, 'static')
        await says(session, 'shared')
        assert.equal(bearerAt(host), `Bearer ${tokens.exact}`)
        assert.equal(bearerAt(other), `Bearer ${tokens.first}`)

        const [vault] = vault_ids
        assert.equal((await service.ask('POST', `/v1/vaults/${vault}/archive`)).status, 200)
        await says(session, 'shared')
        assert.equal(hosts.of(other).at(-1)?.authorization, `Bearer ${tokens.second}`)
      },
    )

    verifies(
      [
        'mcp/auth/oauth',
        'mcp/auth/compare-and-set',
        'proxy/refresh/request',
        'proxy/refresh/stored',
        'proxy/refresh/one-retry',
      ],
      'an OAuth token is refreshed where the server says 401, or 403 for one that has expired',
      async () => {
        for (const status of [401, 403]) {
          const host = `oauth-${status}.api.example`
          hosts.mcp(host, undefined, (request) =>
            request.headers.get('authorization') === `Bearer ${oauth.state.valid}`
              ? undefined
              : new Response('expired', {
                  status,
                  headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
                }),
          )
          const old = canary()
          const vault = await vaultOf(service, {
            type: 'mcp_oauth',
            access_token: old,
            refresh_token: oauth.state.current,
            token_endpoint: 'https://auth.example/token',
            mcp_server_url: `https://${host}/mcp`,
          })
          const issued = oauth.state.issued
          const session = await sessionOf(service, {
            servers: [declareServer(host)],
            vault_ids: [vault],
          })
          await says(session, `oauth-${status}`)
          await says(session, `oauth-${status}`)
          assert.equal(oauth.state.issued, issued + 1)
          const seen = hosts.of(host).map(({ authorization }) => authorization)
          assert.deepEqual(
            [seen[0], ...new Set(seen.slice(1))],
            [`Bearer ${old}`, `Bearer ${oauth.state.valid}`],
          )
          const records = service.logged.filter((line) => line.includes(`"host":"${host}"`))
          const refreshed = records.filter((line) => line.includes('"refreshed":true'))
          assert.equal(refreshed.length, 1)
          const told = JSON.stringify([service.logged, await logOf(service, session)])
          for (const secret of [old, oauth.state.valid, oauth.state.current])
            assert.ok(!told.includes(secret))
        }
      },
    )

    verifies(
      [
        'proxy/refresh/original-401',
        'proxy/refresh/not-masked',
        'errors/case/upstream-401',
        'events/type/error',
      ],
      'a refresh that fails keeps the server’s 401, which the session reports and survives',
      async () => {
        const host = 'revoked.api.example'
        hosts.mcp(host, undefined, () => new Response('no', { status: 401 }))
        hosts.mcp('open.api.example')
        const vault = await vaultOf(service, {
          type: 'mcp_oauth',
          access_token: canary(),
          refresh_token: 'a refresh token that nobody knows',
          token_endpoint: 'https://auth.example/token',
          mcp_server_url: `https://${host}/mcp`,
        })
        const session = await sessionOf(service, {
          servers: [declareServer(host), declareServer('open.api.example')],
          vault_ids: [vault],
        })
        const events = await turn(service, session, echo('open'))
        const [error = '', ...more] = errorsOf(events)
        assert.match(error, /^mcp_authentication_failed_error revoked .*401/)
        assert.deepEqual(more, [])
        assert.equal(textOf(only(events, 'agent.mcp_tool_result')), 'hello')
      },
    )

    verifies(['mcp/auth/outside-sandbox'], 'none of them is anywhere in the sandbox', async () => {
      const [inline, vaulted, access] = [canary(), canary(), canary()]
      const named = ['boxed', 'boxed-static', 'boxed-oauth'].map((name) => `${name}.api.example`)
      for (const host of named) hosts.mcp(host)
      const [first = '', second = '', third = ''] = named
      const vault = await vaultOf(service, bearer(vaulted, `https://${second}/mcp`), {
        type: 'mcp_oauth',
        access_token: access,
        mcp_server_url: `https://${third}/mcp`,
      })
      const session = await sessionOf(service, {
        servers: [
          { ...declareServer(first), authorization_token: inline },
          declareServer(second),
          declareServer(third),
        ],
        tools: [{ type: 'agent_toolset_20260401' }],
        vault_ids: [vault],
      })
      for (const host of named) await says(session, host.split('.')[0] ?? '')
      // The command pieces the word together, so that no command line contains the word during the search.
      const search = [
        'run: w="canary""-"; env | grep -c "$w"',
        'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null > /tmp/seen',
        'grep -c "$w" /tmp/seen',
        'grep -rlI "$w" /workspace /tmp /home /etc 2>/dev/null | wc -l',
      ].join('; ')
      const events = await turn(service, session, search)
      const [result] = all(events, 'agent.tool_result')
      assert.deepEqual(result && textOf(result).trim().split('\n'), ['0', '0', '0'])
    })
  })
}
