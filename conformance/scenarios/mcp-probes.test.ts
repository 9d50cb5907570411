import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { McpProbeShown } from '@steward/protocol/mcp-probes.ts'
import type { McpHosts } from '../mcp.ts'
import { mcpHosts, vaultOf } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'

const path = '/v1/ext/mcp_probes'
const canary = () => `canary-${crypto.randomUUID()}`

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`trying an MCP server on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    /** A service whose ways out are not replaced. */
    let walled: TestService
    before(async () => {
      hosts = await mcpHosts()
      service = await boot(database, { overrides: { nameOverride: hosts.outside } })
      walled = await boot(database)
    })
    after(async () => {
      await service.close()
      await walled.close()
      await hosts[Symbol.asyncDispose]()
    })
    async function probe(body: object, at = service): Promise<McpProbeShown> {
      const answer = await at.ask<McpProbeShown>('POST', path, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    const wanting = (token: string) => (request: Request) =>
      request.headers.get('authorization') === `Bearer ${token}`
        ? undefined
        : new Response('who are you?', { status: 401 })

    verifies(
      ['mcp/probe', 'mcp/probe/tools'],
      'its tools are listed, their descriptions cut, and nothing stays open',
      async () => {
        hosts.mcp('tools.api.example', (mcp) => {
          const described = { description: `finds ${'x'.repeat(1_000)}`, title: 'Find' }
          mcp.registerTool('find', described, () => ({ content: [] }))
        })
        const { id, tools, ms, ...rest } = await probe({ url: 'https://tools.api.example/mcp' })
        assert.deepEqual(rest, {
          ...{ type: 'mcp_probe', ok: true, url: 'https://tools.api.example/mcp' },
          ...{ credential: null, left_out: null, error: null },
        })
        assert.match(id, /^mcpp_/)
        assert.ok(ms >= 0)
        assert.deepEqual(
          tools.map(({ name }) => name),
          ['echo', 'find'],
        )
        assert.equal(tools[1]?.title, 'Find')
        assert.equal(tools[1].description?.length, 401)
        assert.ok(
          hosts.of('tools.api.example').some(({ method }) => method === 'DELETE'),
          'the session is ended',
        )
      },
    )

    verifies(
      ['mcp/probe/as-a-session', 'mcp/probe/failed', 'mcp/probe/rights'],
      'it gets the credential of the vaults named, which no answer shows, and a refusal says what to do',
      async () => {
        const [token, other] = [canary(), canary()]
        const url = 'https://wants.api.example/mcp'
        hosts.mcp('wants.api.example', undefined, wanting(token))
        const auth = (value: string) => ({
          ...{ type: 'static_bearer', token: value, mcp_server_url: url },
        })
        const none = await probe({ name: 'tracker', url })
        assert.equal(none.ok, false)
        assert.equal(none.error?.type, 'mcp_authentication_failed_error')
        assert.match(none.error.message, /tracker .*\(401\)/)
        assert.match(none.error.advice, /vault_ids/)
        assert.deepEqual(none.tools, [])

        const right = await vaultOf(service, auth(token))
        const wrong = await vaultOf(service, auth(other))
        const ok = await probe({ url, vault_ids: [right, wrong] })
        assert.equal(ok.ok, true, JSON.stringify(ok))
        assert.equal(ok.credential?.vault_id, right)
        const refused = await probe({ url, vault_ids: [wrong, right] })
        assert.equal(refused.error?.type, 'mcp_authentication_failed_error')
        assert.equal(refused.credential?.vault_id, wrong)
        assert.match(refused.error.advice, /refused/)
        const told = JSON.stringify([none, ok, refused]) + service.logged.join('')
        for (const secret of [token, other]) assert.ok(!told.includes(secret))

        const used = await service.ask(
          'GET',
          `/v1/ext/audit/credential_uses?credential_id=${ok.credential.credential_id}`,
        )
        const use = used.body.data[0]
        assert.deepEqual(
          [use?.['session_id'], use?.['vault_id'], use?.['host']],
          [null, right, 'wants.api.example'],
        )

        const second = await service.otherWorkspace('second')
        const stranger = { 'x-api-key': second.key }
        const asked = { url, vault_ids: [right] }
        assert.equal((await service.ask('POST', path, asked, stranger)).status, 404)
        const reader = await service.ask<{ key: string }>('POST', '/v1/ext/api_keys', {
          ...{ name: 'reader', read_only: true },
        })
        const reading = { 'x-api-key': reader.body.key }
        assert.equal((await service.ask('POST', path, { url }, reading)).status, 403)
        await service.raw('POST', `/v1/vaults/${right}/archive`)
        const archived = await service.ask('POST', path, asked)
        assert.equal(archived.status, 400)
        assert.match(JSON.stringify(archived.body), /vault_ids\.0: .*archived/)
      },
    )

    verifies(
      ['mcp/probe/as-a-session', 'mcp/probe/failed'],
      'an address that is no server, or is not reachable for tenants, is answered in words',
      async () => {
        const absent = await probe({ url: 'https://absent.api.example/mcp' })
        assert.equal(absent.ok, false)
        assert.equal(absent.error?.type, 'mcp_connection_failed_error')
        assert.match(absent.error.advice, /Check the URL/)
        for (const address of ['169.254.169.254', '10.1.2.3', '[fd00::1]']) {
          const inside = await probe({ url: `http://${address}/mcp` }, walled)
          assert.equal(inside.ok, false)
          assert.match(inside.error?.message ?? '', /private or reserved address|denied/, address)
        }
      },
    )
  })
}
