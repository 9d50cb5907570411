/** MCP servers of a session as its worker sees them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { mcpClient } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import type { McpHosts } from '../mcp.ts'
import { declareServer, mcpHosts } from '../mcp.ts'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { verifies } from '../verifies.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const token = 'canary-of-an-inline-token-0123456789'
const bases: [string, Record<string, string>, string | undefined][] = [
  ['where it has reached the service', {}, undefined],
  [
    'at PUBLIC_URL',
    { PUBLIC_URL: 'https://front.example/steward' },
    'https://front.example/steward',
  ],
]

for (const [where, env, base] of bases)
  describe(`MCP servers for a worker, ${where}`, () => {
    let hosts: McpHosts
    let service: TestService
    before(async () => {
      hosts = await mcpHosts()
      hosts.mcp('tools.api.example')
      service = await boot('sqlite', { env, overrides: { nameOverride: hosts.outside } })
    })
    after(async () => {
      await service.close()
      await hosts[Symbol.asyncDispose]()
    })

    verifies(
      'worker/input/mcp-proxy-url',
      'are behind the proxy, which asks them under the claim; neither address nor token is shown',
      async () => {
        const pool = await newPool(service)
        const own = {
          ...declareServer('tools.api.example', 'my tools'),
          authorization_token: token,
        }
        const session = await sessionIn(service, pool, { mcp_servers: [own] })
        const item = await poll(service, pool)
        const headers = {
          'x-api-key': '',
          authorization: `Bearer ${tokenOf(item?.secret ?? '')}`,
        }
        const { body } = await service.ask('GET', `/v1/sessions/${session}`, undefined, headers)
        const { mcp_servers } = body['agent'] as { mcp_servers: { name: string; url: string }[] }
        const path = `/v1/ext/mcp-proxy/${session}/my%20tools`
        assert.deepEqual(
          mcp_servers.map(({ name, url }) => [name, url]),
          [['my tools', (base ?? service.base) + path]],
        )
        assert.ok(!/api\.example|canary/.test(JSON.stringify(body)))
        const client = await mcpClient(service.base + path, tokenOf(item?.secret ?? ''))
        assert.ok((await client.listTools()).tools.length > 0)
        await client.close()
        assert.equal(hosts.of('tools.api.example')[0]?.authorization, `Bearer ${token}`)
      },
    )
  })
