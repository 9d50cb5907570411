/** A tenant that knows every name of another tenant gets nothing with them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { gateSocketOf } from '@steward/server/engine/runner/gate-socket-fixture.ts'
import type { KeyCaller } from './caller.ts'
import { callerAt } from './caller.ts'
import type { McpHosts } from './mcp.ts'
import { declareServer, callTool, mcpHosts, sessionOf, vaultOf } from './mcp.ts'
import type { TestService } from './service.ts'
import { boot, databases } from './service.ts'
import { only, textOf, turn } from './turns.ts'
import { verifies } from './verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }]
const canary = () => `canary-${crypto.randomUUID()}`
const host = 'api.example'

for (const database of databases) {
  describe(`another tenant on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    let stranger: KeyCaller
    let strangerKey: string
    const secrets = { bearer: canary(), variable: canary() }
    const known = { session: '', vault: '', credential: '', token: '', placeholder: '' }
    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp(host)
      hosts.set('other.example', ({ headers }) =>
        Response.json({ key: headers.get('x-key'), authorization: headers.get('authorization') }),
      )
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
      strangerKey = (await service.otherWorkspace('stranger')).key
      stranger = callerAt(service.base, strangerKey)
      known.vault = await vaultOf(
        service,
        { type: 'static_bearer', token: secrets.bearer, mcp_server_url: `https://${host}/mcp` },
        {
          type: 'environment_variable',
          secret_name: 'API_TOKEN',
          secret_value: secrets.variable,
          networking: { type: 'unrestricted' },
        },
      )
      known.session = await sessionOf(service, {
        servers: [declareServer(host, 'mine')],
        tools,
        vault_ids: [known.vault],
      })
      const path = `/v1/ext/mcp-proxy/${known.session}/mine/token`
      known.token = (await service.ask<{ token: string }>('POST', path)).body.token
      const listed = await service.ask('GET', `/v1/vaults/${known.vault}/credentials`)
      known.credential = listed.body.data[0]?.id ?? ''
      const shown = await turn(service, known.session, 'run: printf %s "$API_TOKEN"')
      known.placeholder = textOf(only(shown, 'agent.tool_result'))
    })
    after(async () => {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    })

    const run = async (session: string, command: string) =>
      textOf(only(await turn(stranger, session, `run: ${command}`), 'agent.tool_result'))

    verifies(
      ['proxy/caller/local-child', 'secrets/mcp-tokens'],
      'asks nothing by a session, a server’s name or a proxy token that is not its own',
      async () => {
        const own = await sessionOf(stranger, { servers: [declareServer(host, 'mine')], tools })
        const asked = async (bearer: string, session: string) => {
          const answer = await fetch(`${service.base}/v1/ext/mcp-proxy/${session}/mine`, {
            method: 'POST',
            headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
            body: '{}',
          })
          return answer.status
        }
        const before = hosts.noted.length
        assert.equal(await asked(strangerKey, known.session), 404)
        assert.equal(await asked(known.token, own), 401)
        const mint = await stranger.ask('POST', `/v1/ext/mcp-proxy/${known.session}/mine/token`)
        assert.equal(mint.status, 404)
        assert.equal(hosts.noted.length, before)
      },
    )

    verifies(
      ['credentials/bound-not-vault', 'credentials/match/host'],
      'names the same server and the same host, and has no credential there',
      async () => {
        const session = await sessionOf(stranger, { servers: [declareServer(host, 'mine')], tools })
        const before = hosts.noted.length
        const said = await turn(stranger, session, callTool('mcp__mine__echo', { text: 'hello' }))
        assert.equal(textOf(only(said, 'agent.mcp_tool_result')), 'hello')
        await run(session, `curl -sk -m 5 https://${host}/mcp`)
        const seen = hosts.noted.slice(before).map(({ authorization }) => authorization)
        assert.deepEqual([...new Set(seen)], [undefined])
      },
    )

    verifies(
      ['credentials/type/environment-variable'],
      'sends a placeholder that is not its own, and it arrives as it is',
      async () => {
        assert.ok(known.placeholder.length > 10)
        const session = await sessionOf(stranger, {
          tools,
          vault_ids: [
            await vaultOf(stranger, {
              type: 'environment_variable',
              secret_name: 'API_TOKEN',
              secret_value: canary(),
              networking: { type: 'unrestricted' },
            }),
          ],
        })
        const sent = `curl -s -m 5 -H "X-Key: ${known.placeholder}" https://other.example/`
        const said = JSON.parse(await run(session, sent)) as { key: string }
        assert.equal(said.key, known.placeholder)
        const own = await run(session, 'printf %s "$API_TOKEN"')
        assert.notEqual(own, known.placeholder)
        // Another session of the same tenant cannot use the placeholder either.
        const second = await sessionOf(service, { tools, vault_ids: [known.vault] })
        const events = await turn(service, second, `run: ${sent}`)
        const kept = JSON.parse(textOf(only(events, 'agent.tool_result'))) as { key: string }
        assert.equal(kept.key, known.placeholder)
      },
    )

    verifies(
      ['vaults/get'],
      'finds no vault, no credential and no trail of them, and begins no session with them',
      async () => {
        const { vault, credential, session } = known
        const below = `/v1/vaults/${vault}/credentials`
        for (const [method, path, body] of [
          ['GET', `/v1/vaults/${vault}`],
          ['GET', below],
          ['POST', below, { auth: { type: 'cap_cli', cli_id: 'gh', token: 'x' } }],
          ['GET', `${below}/${credential}`],
          ['POST', `${below}/${credential}`, { auth: { type: 'static_bearer', token: 'x' } }],
          ['POST', `${below}/${credential}/archive`],
          ['POST', `${below}/${credential}/mcp_oauth_validate`],
          ['DELETE', `${below}/${credential}`],
          ['GET', `/v1/sessions/${session}/log`],
        ] as const) {
          const { status } = await stranger.ask(method, path, body)
          assert.equal(status, 404, `${method} ${path}`)
        }
        for (const query of [
          `vault_id=${vault}`,
          `credential_id=${credential}`,
          `session_id=${session}`,
        ]) {
          for (const trail of ['credential_uses', 'credential_changes']) {
            const { body } = await stranger.ask('GET', `/v1/ext/audit/${trail}?${query}`)
            assert.deepEqual(body.data, [], `${trail} ${query}`)
          }
        }
        await assert.rejects(
          sessionOf(stranger, { tools, vault_ids: [vault] }),
          /not_found|invalid/,
        )
      },
    )

    verifies(
      ['egress/required/no-direct'],
      'has no way to the other’s socket from its sandbox, nor to its files',
      async () => {
        const session = await sessionOf(stranger, { tools })
        const folder = `${service.dataDir}/sandboxes/${known.session}`
        const socket = gateSocketOf(service.dataDir, known.session)
        const said = await run(
          session,
          `curl -s -m 3 --unix-socket ${socket} https://${host}/ ; echo "exit $?"; ls ${folder} ${service.dataDir}; find / -name egress.sock 2>/dev/null | wc -l`,
        )
        assert.match(said, /exit [1-9]/)
        assert.match(said, /^0$/m)
        assert.ok(!said.includes('workspace\n'))
        const all = JSON.stringify([service.logged, said])
        for (const secret of Object.values(secrets)) assert.ok(!all.includes(secret))
      },
    )
  })
}
