import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const secret = 'a-token-that-is-good'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`OAuth credentials on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const vaults = () => service.client.beta.vaults

    verifies(
      'vaults/credentials/validate',
      'are validated at their server, and the answer gives the result without the token',
      async () => {
        const asked: string[] = []
        const server = createServer((request, response) => {
          const { authorization = '' } = request.headers
          asked.push(authorization)
          request.resume()
          const isGood = authorization === `Bearer ${secret}`
          response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
          response.end(JSON.stringify({ you_said: authorization }))
        })
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        try {
          const { port } = server.address() as AddressInfo
          const { id: vault } = await vaults().create({ display_name: fresh('vault') })
          const tried = async (access_token: string, path: string) => {
            const mcp_server_url = `http://127.0.0.1:${port}/${path}`
            const auth = { type: 'mcp_oauth' as const, access_token, mcp_server_url }
            const { id } = await vaults().credentials.create(vault, { auth })
            return vaults().credentials.mcpOAuthValidate(id, { vault_id: vault })
          }
          const good = await tried(secret, 'good')
          assert.deepEqual(
            [good.type, good.status, good.has_refresh_token, good.vault_id],
            ['vault_credential_validation', 'valid', false, vault],
          )
          assert.equal(good.mcp_probe, null)
          assert.equal(asked.at(-1), `Bearer ${secret}`)
          const bad = await tried('stale-token-of-yesterday', 'bad')
          assert.deepEqual([bad.status, bad.refresh?.status], ['invalid', 'no_refresh_token'])
          assert.equal(bad.mcp_probe?.http_response?.status_code, 401)
          assert.match(bad.mcp_probe?.http_response?.body ?? '', /you_said/)
          assert.ok(!JSON.stringify([good, bad]).includes('stale-token-of-yesterday'))
          const other = await vaults().credentials.create(vault, {
            auth: { type: 'static_bearer', token: 't', mcp_server_url: 'https://other.example' },
          })
          const refused = vaults().credentials.mcpOAuthValidate(other.id, { vault_id: vault })
          await assert.rejects(refused, /mcp_oauth alone/)
          await vaults().credentials.archive(good.credential_id, { vault_id: vault })
          const late = vaults().credentials.mcpOAuthValidate(good.credential_id, {
            vault_id: vault,
          })
          await assert.rejects(late, /archived/)
        } finally {
          server.closeAllConnections()
          server.close()
        }
      },
    )
  })
}
