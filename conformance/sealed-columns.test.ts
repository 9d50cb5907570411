/** Searches every column of every table for secrets in clear text. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { controlColumns, sealedColumns } from '@steward/server/start/root-secret/columns.ts'
import { startCompanyProvider } from './company-provider.ts'
import { identitySettings } from './issuer.ts'
import { githubSettings, githubStub, installGithub } from './github.ts'
import { startReceiver } from './receiver.ts'
import type { TestService } from './service.ts'
import { boot, databases } from './service.ts'
import { verifies } from './verifies.ts'

const secret = 'canary-5f2c9d81-of-every-kind'
const sealed = /v[12]\.[0-9a-f]{12}\.[\w-]{16}\./

/** Stores a secret of every kind of sealed value. */
async function fill(service: TestService): Promise<void> {
  const make = async (path: string, body: object) => {
    const answer = await service.ask('POST', path, body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.ok(!JSON.stringify(answer.body).includes(secret))
    return answer.body.id
  }
  const mcp_servers = [
    { type: 'url', name: 'srv', url: 'https://mcp.example', authorization_token: secret },
  ]
  const agent = await make('/v1/agents', { name: 'a', model: 'offline', tools: [], mcp_servers })
  const environment_id = await make('/v1/environments', { name: 'e' })
  const overrides = { type: 'agent_with_overrides', id: agent, mcp_servers }
  const repository = {
    type: 'github_repository',
    url: 'https://git.example/one/repository',
    authorization_token: secret,
  }
  await make('/v1/sessions', { agent: overrides, environment_id, resources: [repository] })
  const deployment = await make('/v1/deployments', {
    name: 'd',
    agent,
    environment_id,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'hi' }] }],
    resources: [repository],
  })
  await make(`/v1/ext/deployments/${deployment}/trigger_secret`, {})
  await make('/v1/ext/integrations/webhook/publications', {
    ...{ agent, environment_id },
    webhook: { mapping: { scope: '/a', author: '/b', text: '/c' }, authors: [] },
  })
  await make('/v1/ext/model_cards', {
    model_id: 'handle',
    provider: 'walled',
    model: 'm',
    api_key: secret,
    custom_headers: { 'x-secret': secret },
    base_url: 'https://models.example',
    native_config: { api: 'openai-completions' },
  })
  const url = (n: number) => `https://h${n}.example/mcp`
  const auths = [
    { type: 'static_bearer', token: secret, mcp_server_url: url(1) },
    {
      type: 'mcp_oauth',
      access_token: secret,
      mcp_server_url: url(2),
      refresh: {
        client_id: 'me',
        refresh_token: secret,
        token_endpoint: url(3),
        token_endpoint_auth: { type: 'client_secret_basic', client_secret: secret },
      },
    },
    { type: 'cap_cli', cli_id: 'gh', token: secret },
    { type: 'command_secret', env_var: 'A_TOKEN', token: secret },
    {
      type: 'environment_variable',
      secret_name: 'B_TOKEN',
      secret_value: secret,
      networking: { type: 'unrestricted' },
    },
  ]
  await make('/v1/ext/webhook_endpoints', { url: url(4), enabled_events: ['agent.archived'] })
  await make('/v1/vaults', { name: 'v', credentials: auths.map((auth) => ({ auth })) })
}

for (const database of databases) {
  describe(`a sealed column on ${database}`, () => {
    verifies(
      [
        'secrets/root-rotation',
        'vaults/secrets-sealed',
        'secrets/model-card-keys',
        'secrets/integration-tokens',
      ],
      'lies where a change of the root secret finds it, and nowhere in the clear',
      async () => {
        const receiver = await startReceiver()
        const stub = githubStub([{ id: 42, login: 'acme' }], secret)
        receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
        await using provider = await startCompanyProvider({
          ...{
            sub: 'ada',
            email: 'ada@acme.example',
            email_verified: true,
            name: 'Ada',
            groups: ['eng'],
          },
        })
        const rules = [{ groups: ['eng'], workspace: 'default', role: 'member' }]
        const env = {
          PUBLIC_URL: 'https://steward.example',
          ...githubSettings(receiver.base),
          ...identitySettings({ okta: { ...provider.settings, rules } }),
        }
        const service = await boot(database, { env })
        try {
          await fill(service)
          await installGithub(service)
          const signedIn = await provider.signIn(service, 'okta')
          assert.equal(signedIn.headers.getSetCookie().length, 1)
          const { read } = service.database
          const found = new Set<string>()
          for (const { name } of await read.introspection.getTables()) {
            const rows = await read
              .selectFrom(name as 'settings')
              .selectAll()
              .execute()
            for (const row of rows) {
              for (const [column, value] of Object.entries(row)) {
                const text = String(value)
                assert.ok(!text.includes(secret), `${name}.${column}`)
                if (sealed.test(text)) found.add(`${name}.${column}`)
              }
            }
          }
          const columns = [...controlColumns, ...sealedColumns]
          const known = columns.map(({ table, column }) => `${table}.${column}`)
          assert.deepEqual([...found].toSorted(), known.toSorted())
          assert.ok(!service.logged.join().includes(secret))
        } finally {
          await service.close()
          await receiver.close()
        }
      },
    )
  })
}
