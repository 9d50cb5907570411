import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { McpProbeShown } from '@steward/protocol/mcp-probes.ts'
import type { StubVault } from '@steward/secret-managers/stubs/stub-vault.ts'
import {
  startStubVault,
  vaultRoleId,
  vaultSecretId,
} from '@steward/secret-managers/stubs/stub-vault.ts'
import type { McpHosts } from '../mcp.ts'
import { mcpHosts } from '../mcp.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const reads = '/v1/ext/audit/secret_reads'
const canary = () => `canary-${crypto.randomUUID()}`
const reference = (name: string, more = {}) => ({
  type: 'secret_reference',
  manager: 'company',
  name,
  ...more,
})

const managers = (address: string) => {
  const auth = { type: 'approle', role_id: vaultRoleId, secret_id: vaultSecretId }
  const vault = { type: 'vault', address, auth }
  return JSON.stringify({
    company: { ...vault, workspaces: { '*': { prefix: 'steward/{workspace}/' } } },
    others: { ...vault, workspaces: { wrkspc_other: { prefix: '' } } },
  })
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`references to a secret manager on ${database}`, () => {
    let service: TestService
    let vault: StubVault
    let hosts: McpHosts
    let workspace: string
    let jumpMs = 0
    before(async () => {
      vault = await startStubVault()
      hosts = await mcpHosts()
      const env = { SECRET_MANAGERS: managers(vault.server.url) }
      const clock = { ...systemClock, now: () => Date.now() + jumpMs }
      service = await boot(database, { env, overrides: { nameOverride: hosts.outside, clock } })
      const made = await service.ask('POST', '/v1/vaults', { name: 'first' })
      workspace = String(made.body['tenant_id'])
    })
    after(async () => {
      await service.close()
      await hosts[Symbol.asyncDispose]()
      await vault[Symbol.asyncDispose]()
    })
    const put = (name: string, fields: Record<string, string>) =>
      vault.put(`steward/${workspace}/${name}`, fields)

    async function newVault(...auths: object[]): Promise<LooseBody> {
      const credentials = auths.map((auth) => ({ auth }))
      const answer = await service.ask('POST', '/v1/vaults', { name: fresh('vault'), credentials })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      return answer.body
    }
    const credentialsOf = async (id: string) =>
      (await service.ask('GET', `/v1/vaults/${id}/credentials`)).body.data

    async function refused(auth: object, key?: string): Promise<[number, string]> {
      const asked = key ? clientsOf(service.base, key) : service
      const { id } = await newVault()
      const { status, body } = await asked.ask<{ error: { message: string } }>(
        'POST',
        `/v1/vaults/${id}/credentials`,
        { auth },
      )
      assert.ok(status >= 400, 'it was taken')
      assert.deepEqual(await credentialsOf(id), [])
      return [status, body.error.message]
    }
    const bearer = (token: unknown, host = 'tracker') => ({
      type: 'static_bearer',
      token,
      mcp_server_url: `https://${host}.api.example/mcp`,
    })
    const probe = async (host: string, ...vault_ids: string[]): Promise<McpProbeShown> =>
      (
        await service.ask<McpProbeShown>('POST', '/v1/ext/mcp_probes', {
          url: `https://${host}.api.example/mcp`,
          vault_ids,
        })
      ).body
    const wanting = (token: () => string) => (request: Request) =>
      request.headers.get('authorization') === `Bearer ${token()}`
        ? undefined
        : new Response('who are you?', { status: 401 })

    verifies(
      ['references/form', 'references/in-place', 'references/shown', 'references/field'],
      'are given and shown where the secret would be',
      async () => {
        const [token, value, client] = [canary(), canary(), canary()]
        put('tracker', { token })
        put('variable', { value })
        put('client', { secret: client, other: canary() })
        const made = await newVault(
          bearer(reference('tracker')),
          { type: 'cap_cli', cli_id: 'gh', token: reference('tracker') },
          { type: 'command_secret', env_var: 'DEPLOY_KEY', token: reference('tracker') },
          {
            type: 'environment_variable',
            secret_name: 'API_TOKEN',
            secret_value: reference('variable'),
            networking: { type: 'limited', allowed_hosts: ['api.example'] },
          },
          {
            type: 'mcp_oauth',
            access_token: 'an access token',
            mcp_server_url: 'https://oauth.api.example/mcp',
            refresh: {
              client_id: 'me',
              refresh_token: 'a refresh token',
              token_endpoint: 'https://auth.example/token',
              token_endpoint_auth: {
                type: 'client_secret_post',
                client_secret: reference('client', { field: 'secret' }),
              },
            },
          },
        )
        const shown = await credentialsOf(made.id)
        const auths = shown.map(({ auth }) => auth as LooseBody)
        const of = (type: string) => auths.find((auth) => auth['type'] === type)
        for (const type of ['static_bearer', 'cap_cli', 'command_secret'])
          assert.deepEqual(of(type)?.['token'], reference('tracker'), type)
        assert.deepEqual(of('environment_variable')?.['secret_value'], reference('variable'))
        const refresh = of('mcp_oauth')?.['refresh'] as LooseBody | undefined
        assert.deepEqual(refresh?.['token_endpoint_auth'], {
          type: 'client_secret_post',
          client_secret: reference('client', { field: 'secret' }),
        })
        for (const secret of [token, value, client])
          assert.ok(!JSON.stringify([shown, service.logged]).includes(secret))

        const bearers = shown.find(({ auth }) => (auth as LooseBody)['type'] === 'static_bearer')
        const path = `/v1/vaults/${made.id}/credentials/${bearers?.id}`
        const plain = await service.ask('POST', path, {
          auth: { type: 'static_bearer', token: 'a text' },
        })
        assert.deepEqual(
          plain.body['auth'],
          bearer(undefined) && {
            type: 'static_bearer',
            mcp_server_url: 'https://tracker.api.example/mcp',
          },
        )
        const again = await service.ask('POST', path, {
          auth: { type: 'static_bearer', token: reference('tracker') },
        })
        assert.deepEqual((again.body['auth'] as LooseBody)['token'], reference('tracker'))
      },
    )

    verifies(
      [
        'references/own-tokens',
        'references/tried',
        'references/version',
        'references/manager-unknown',
      ],
      'are tried before they are stored, and a refusal says what is wrong',
      async () => {
        put('github', { token: canary() })
        put('lines', { key: 'a\nb' })
        put('several', { a: 'one', b: 'two' })
        const mcp_server_url = 'https://tracker.api.example/mcp'
        const cases: [object, RegExp][] = [
          [
            { type: 'mcp_oauth', access_token: reference('github'), mcp_server_url },
            /auth\.access_token: takes no secret_reference.*static_bearer/,
          ],
          [bearer(reference('nothing')), /auth\.token: .*company does not have nothing/],
          [bearer(reference('github', { field: 'user' })), /auth\.token: .*no field user/],
          [bearer(reference('github', { version: '7' })), /auth\.token: .*does not have github/],
          [bearer(reference('lines')), /auth\.token: the secret lines: .*one line/],
          [bearer(reference('several')), /auth\.token: .*2 fields: name one as field/],
          [
            bearer({ ...reference('github'), manager: 'others' }),
            /auth\.token: this workspace has no secret manager others.*SECRET_MANAGERS/,
          ],
          [
            bearer({ ...reference('github'), manager: 'nobody' }),
            /auth\.token: this workspace has no secret manager nobody.*SECRET_MANAGERS/,
          ],
        ]
        for (const [auth, words] of cases) {
          const [status, message] = await refused(auth)
          assert.deepEqual([status, words.test(message) || message], [400, true])
        }
        vault.isSealed = true
        const [status, message] = await refused(bearer(reference('github2')))
        vault.isSealed = false
        assert.equal(status, 503)
        assert.match(message, /auth\.token: the secret manager company is away/)
        assert.ok(service.logged.some((line) => line.includes('Vault is sealed')))
        assert.ok(!message.includes('sealed'), 'the words of the manager are for the operator')
        const first = put('github', { token: 'after' }) - 1
        await newVault(bearer(reference('github', { version: String(first) })))
      },
    )

    verifies(
      ['references/admin', 'references/paths', 'settings/secret-managers'],
      'are for admins, and lead nowhere beyond the path of the workspace',
      async () => {
        put('tracker', { token: canary() })
        vault.put('steward/wrkspc_other/tracker', { token: canary() })
        const member = await service.operatorKey(workspace, { name: 'member', admin: false })
        const [status, message] = await refused(bearer(reference('tracker')), member.key)
        assert.equal(status, 403)
        assert.match(message, /auth\.token: a secret_reference is for workspace admins/)
        const theirs = clientsOf(service.base, member.key)
        const { id } = await newVault({ ...bearer('a text') })
        const [kept] = await credentialsOf(id)
        const auth = bearer(reference('tracker'))
        const { mcp_server_url: _, ...update } = auth
        const [ours, openai] = [`/v1/vaults/${id}`, `/openai/v1/vaults/${id}`]
        for (const [path, body] of [
          [ours, { auth }],
          [ours, { credentials: [{ auth }] }],
          ['/v1/vaults', { name: 'v', auth }],
          [`${ours}/credentials/${kept?.id}`, { auth: update }],
          [`${openai}/credentials`, { name: 'c', auth }],
          [`${openai}/credentials/${kept?.id}`, { auth: update }],
        ] as const)
          assert.equal((await theirs.ask('POST', path, body)).status, 403, path)
        const byOther = await service.ask('POST', `${openai}/credentials`, {
          name: 'c',
          auth: bearer(reference('nothing'), 'other'),
        })
        assert.match(JSON.stringify(byOther.body), /does not have nothing/)
        const asked = vault.server.requests.length
        const other = 'wrkspc_other/tracker'
        for (const name of [
          `../${other}`,
          `a/../../${other}`,
          `/steward/${other}`,
          `%2e%2e/${other}`,
          `..%2f${other}`,
          `%252e%252e/${other}`,
          `.%2e/${other}`,
          `a//${other}`,
          './tracker',
          'tracker/',
          'tracker?version=1',
          'tracker#a',
          String.raw`..\tracker`,
          'tracker\u0000',
          '',
        ]) {
          const [wrong, words] = await refused(bearer(reference(name)))
          assert.deepEqual([name, wrong], [name, 400])
          assert.match(words, /^auth\.token\.name: /, name)
        }
        assert.equal(vault.server.requests.length, asked, 'nobody was asked')
        const elsewhere = await service.otherWorkspace(fresh('other'))
        const made = await clientsOf(service.base, elsewhere.key).ask('POST', '/v1/vaults', {
          name: 'theirs',
          auth: bearer(reference('tracker')),
        })
        assert.equal(made.status, 400)
        assert.match(JSON.stringify(made.body), /does not have tracker/)
      },
    )

    verifies(
      ['references/live', 'references/rotated', 'references/away', 'references/audit'],
      'are read when they are used: a rotated secret works at once, and an old one is not used while its manager is away',
      async () => {
        const [before, after] = [canary(), canary()]
        let valid = before
        hosts.mcp(
          'live.api.example',
          undefined,
          wanting(() => valid),
        )
        const first = put('live', { token: before })
        const { id } = await newVault(bearer(reference('live'), 'live'))
        const asked = vault.server.requests.length
        assert.equal((await probe('live', id)).ok, true)
        assert.equal((await probe('live', id)).ok, true)
        assert.ok(vault.server.requests.length - asked <= 1, 'calls in a series share a read')

        const second = put('live', { token: after })
        valid = after
        // A secret that was read a moment ago is not read anew.
        jumpMs += 1_100
        assert.equal((await probe('live', id)).ok, true, 'the upstream was asked once more')

        jumpMs += 5_100
        vault.isSealed = true
        const away = await probe('live', id)
        vault.isSealed = false
        assert.equal(away.ok, false)
        assert.match(JSON.stringify(away.error), /the secret manager company is away: live/)
        jumpMs += 1_100
        assert.equal((await probe('live', id)).ok, true)

        const { body } = await service.ask('GET', `${reads}?vault_id=${id}`)
        const [credential] = await credentialsOf(id)
        const seen = body.data.map(({ result, version }) => [result, version])
        assert.deepEqual(seen.slice(0, 3), [
          ['read', String(second)],
          ['away', null],
          ['read', String(second)],
        ])
        assert.ok(body.data.every((each) => each['credential_id'] === credential?.id))
        const all = await service.ask('GET', `${reads}?limit=100`)
        const trial = all.body.data.find((each) => each['name'] === 'live' && each['actor_id'])
        assert.deepEqual(
          [trial?.['manager'], trial?.['version'], trial?.['session_id'], trial?.['result']],
          ['company', String(first), null, 'read'],
        )
        const kept = JSON.stringify([all.body, body, service.logged])
        for (const secret of [before, after]) assert.ok(!kept.includes(secret))
      },
    )
  })
}
