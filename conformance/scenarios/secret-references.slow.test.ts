import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { StubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import {
  startStubVault,
  vaultRoleId,
  vaultSecretId,
} from '@steward/secret-managers/stubs/stub-vault.ts'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { connectBy, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { fresh, logOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const canary = () => `canary-${crypto.randomUUID()}`
const toolset = { type: 'agent_toolset_20260401' as const }
const reference = (name: string) => ({ type: 'secret_reference', manager: 'company', name })

/** The text of a turn's only tool result. */
function resultOf(events: SeenEvent[]): string {
  const result = events.find(({ type }) => type === 'agent.tool_result')
  const content = (result?.['content'] ?? []) as { text?: string }[]
  return content.map(({ text }) => text ?? '').join('\n')
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`commands with secrets of a secret manager on ${database}`, () => {
    let service: TestService
    let vault: StubVault
    let api: TestUpstream
    let jumpMs = 0
    /** Authorization headers that the API got; it keeps the last one, as a host that stores what it is sent. */
    const got: string[] = []
    before(async () => {
      vault = await startStubVault()
      api = await upstreamServer((request, response) => {
        got.push(String(request.headers.authorization))
        response.end(`kept: ${got.join(' and ')}`)
      })
      const auth = { type: 'approle', role_id: vaultRoleId, secret_id: vaultSecretId }
      const company = {
        type: 'vault',
        address: vault.server.url,
        auth,
        workspaces: { '*': { prefix: '{workspace}/' } },
      }
      service = await boot(database, {
        env: { SECRET_MANAGERS: JSON.stringify({ company }) },
        overrides: {
          clock: { ...systemClock, now: () => Date.now() + jumpMs },
          nameOverride: {
            connect: connectBy({ 'api.example': api }),
            dial: async () => connect(api.port, '127.0.0.1'),
          },
        },
      })
    })
    after(async () => {
      await service.close()
      await api[Symbol.asyncDispose]()
      await vault[Symbol.asyncDispose]()
    })

    verifies(
      ['references/live', 'references/away', 'references/masked', 'references/audit-first'],
      'have the newest secret, see none of it, and learn when its manager is away',
      async () => {
        const { beta } = service.client
        const [first, second] = [canary(), canary()]
        const { body: made } = await service.ask('POST', '/v1/vaults', { name: fresh('vault') })
        const path = `${String(made['tenant_id'])}/api`
        vault.put(path, { value: first })
        const auths = [
          {
            type: 'environment_variable',
            secret_name: 'API_TOKEN',
            secret_value: reference('api'),
            networking: { type: 'limited', allowed_hosts: ['api.example'] },
          },
          {
            type: 'command_secret',
            env_var: 'DEPLOY_KEY',
            token: reference('api'),
            command_prefixes: ['node -p'],
          },
        ]
        for (const auth of auths) {
          const stored = await service.ask('POST', `/v1/vaults/${made.id}/credentials`, { auth })
          assert.equal(stored.status, 200, JSON.stringify(stored.body))
        }
        const agent = await beta.agents.create({
          name: fresh('a'),
          model: 'offline',
          tools: [toolset],
        })
        const environment = await service.ask('POST', '/v1/environments', { name: fresh('e') })
        const { id: session } = await beta.sessions.create({
          agent: agent.id,
          environment_id: environment.body.id,
          vault_ids: [made.id],
        })
        const run = async (command: string) =>
          resultOf(await turn(service, session, `run: ${command}`))
        const call = 'curl -sS -H "Authorization: Bearer $API_TOKEN" https://api.example/'

        jumpMs += 10_000
        const shown = await run(call)
        assert.deepEqual(got, [`Bearer ${first}`])
        assert.equal(shown.trim(), `kept: Bearer ${'*'.repeat(first.length)}`)
        const kept = await run('curl -sS https://api.example/')
        assert.ok(kept.includes('*'.repeat(first.length)), kept)
        const printed = await run("node -p 'process.env.DEPLOY_KEY'")
        assert.equal(printed.trim(), '*'.repeat(first.length))

        vault.put(path, { value: second })
        // A secret that was rotated away is masked no longer, as with other credentials.
        got.splice(0)
        jumpMs += 10_000
        await run(call)
        assert.equal(got.at(-1), `Bearer ${second}`)

        vault.server.mood = 'broken'
        jumpMs += 10_000
        const asked = got.length
        const away = /the secret manager company is away: api could not be read/
        const results = [await run(call), await run("node -p 'process.env.DEPLOY_KEY'")]
        for (const result of results) assert.match(result, away)
        assert.match(results[1] ?? '', /^nothing was run/)
        assert.equal(got.length, asked, 'nothing was sent')
        vault.server.mood = 'well'
        jumpMs += 10_000
        await run(call)
        assert.equal(got.at(-1), `Bearer ${second}`)

        const trail = `/v1/ext/audit/secret_reads?session_id=${session}`
        const { body } = await service.ask('GET', trail)
        assert.deepEqual(new Set(body.data.map(({ result }) => result)), new Set(['read', 'away']))
        const all = JSON.stringify([await logOf(service, session), service.logged, body])
        for (const secret of [first, second]) assert.ok(!all.includes(secret))
      },
    )
  })
}
